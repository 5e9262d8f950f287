import { type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { MAX_NODE_TIMER } from "../../base/clock.js";
import { SECOND } from "../../base/duration.js";
import { PigeonholeError } from "../../base/error.js";
import { LIMITS, isLate } from "../../protocol/limits.js";
import type { HeaderList } from "../model/capture.js";
import { NOT_LOCAL, createLocalLookUp, hostOf, isLocalAddress } from "./local-address.js";
import { fitHeaders } from "./outgoing-headers.js";

/** One request to an app. */
export interface OutgoingRequest {
  /** http or https, with path and query. */
  url: string;
  method: string;
  /** Sent in this order and case, with duplicates. `content-length` is set, connection headers are removed. */
  headers: HeaderList;
  body: Uint8Array;
  /** Longest wait for the complete answer, in milliseconds. @default 5,000 */
  timeoutMs?: number | undefined;
  /** Ends the request early. */
  signal?: AbortSignal | undefined;
  /** Sends the `host` of `headers` instead of the URL's. @default false */
  keepHost?: boolean | undefined;
  /** Allows addresses outside this machine and private networks. @default false */
  allowRemote?: boolean | undefined;
  /**
   * Resolves the host if `allowRemote` is not set. Pass the lookup of an earlier check, so that both use one result.
   * @default a new one
   */
  lookUp?: LookupFunction | undefined;
  /** Most bytes of the answer that are read. @default 10 MiB */
  maxAnswerBytes?: number | undefined;
}

/** Why there was no complete answer. */
export type SendFailure =
  | "refused"
  | "name_unknown"
  | "not_local"
  | "timeout"
  | "aborted"
  | "broken"
  | "answer_too_large"
  | "certificate"
  | "invalid_request";

/** The result of a request. */
export interface SendResult {
  /** Null if no answer came, or not in the time that the service waits. */
  status: number | null;
  headers: HeaderList;
  /** As received, still encoded by `content-encoding`. After a failure, the part that was received. */
  body: Uint8Array;
  /** From the start to the end of the answer. */
  ms: number;
  /** One sentence; null after a success. */
  error: string | null;
  failure: SendFailure | null;
  /** Headers that were sent. */
  sentHeaders: HeaderList;
}

/** Longest wait for an app's answer, unless told otherwise: that of the service. */
export const ANSWER_TIMEOUT_MS = LIMITS.deliveryTimeoutMs;
const SERVICE_WAIT = `${LIMITS.deliveryTimeoutMs / SECOND} s`;
const DEFAULT_MAX_ANSWER_BYTES = 10 * 1024 * 1024;

/**
 * Sends one request with node:http, which keeps the header list as it is, and reads the answer. Follows no redirect.
 * Failures are returned in `failure` and `error`. Throws `invalid_argument` only for an invalid URL.
 */
export async function sendRequest(outgoing: OutgoingRequest): Promise<SendResult> {
  const url = parseUrl(outgoing.url);
  const host = outgoing.keepHost === true ? undefined : url.host;
  const sentHeaders = fitHeaders(outgoing.headers, { host, length: outgoing.body.byteLength });
  // node:http adds no `host` to a header list.
  if (!sentHeaders.some(([name]) => name.toLowerCase() === "host")) sentHeaders.unshift(["Host", url.host]);

  const started = performance.now();
  const result = await exchange(url, outgoing, sentHeaders);
  const ms = Math.round(performance.now() - started);
  return { ...(isLate(ms) ? asLate(result, url, ms) : result), ms, sentHeaders };
}

/** For the service, which has ended the attempt by then, an answer that comes later is none. */
function asLate(result: Exchanged, { host }: URL, ms: number): Exchanged {
  if (result.status === null) return result;
  const error = `${host} answered ${result.status} after ${ms} ms, too late: the service waits ${SERVICE_WAIT}.`;
  return { ...result, status: null, failure: "timeout", error };
}

type Exchanged = Omit<SendResult, "ms" | "sentHeaders">;

function exchange(url: URL, outgoing: OutgoingRequest, sentHeaders: HeaderList): Promise<Exchanged> {
  const { timeoutMs = ANSWER_TIMEOUT_MS, signal, maxAnswerBytes = DEFAULT_MAX_ANSWER_BYTES } = outgoing;
  let answer: IncomingMessage | undefined;
  const chunks: Buffer[] = [];
  const end = (failure: SendFailure | null, error: string | null): Exchanged => ({
    status: failure === "timeout" ? null : (answer?.statusCode ?? null),
    headers: answer === undefined ? [] : pairs(answer.rawHeaders),
    body: Buffer.concat(chunks),
    failure,
    error,
  });

  const hostname = hostOf(url);
  if (outgoing.allowRemote !== true && isIP(hostname) !== 0 && !isLocalAddress(hostname)) {
    return Promise.resolve(end("not_local", describe("not_local", url, NOT_LOCAL)));
  }

  return new Promise((resolve) => {
    let cleanUp = (): void => undefined;
    const settle = (failure: SendFailure | null, detail = ""): void => {
      cleanUp();
      resolve(end(failure, failure === null ? null : describe(failure, url, detail)));
    };
    if (signal?.aborted === true) {
      settle("aborted");
      return;
    }
    try {
      const request = openRequest(url, outgoing, sentHeaders);
      const abort = (): void => stop("aborted");
      const waitMs = Math.min(timeoutMs, MAX_NODE_TIMER);
      const timer = setTimeout(() => stop("timeout", `${waitMs} ms`), waitMs);
      cleanUp = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
      };
      const stop = (failure: SendFailure, detail?: string): void => {
        settle(failure, detail);
        request.destroy();
      };
      signal?.addEventListener("abort", abort, { once: true });
      request.on("error", (error: NodeJS.ErrnoException) => settle(failureOf(error), error.code ?? error.message));
      // Without a listener Node closes the connection without an error.
      request.on("upgrade", (response) => {
        answer = response;
        stop("broken", "it changed the protocol");
      });
      request.on("response", (response) => {
        answer = response;
        collectBody(response, chunks, maxAnswerBytes, () => stop("answer_too_large", `${maxAnswerBytes} bytes`));
        response.on("end", () => settle(response.complete ? null : "broken"));
        response.on("error", (error: NodeJS.ErrnoException) => settle("broken", error.code ?? ""));
      });
      request.end(outgoing.body);
    } catch (error) {
      // A captured header that HTTP does not allow.
      settle("invalid_request", error instanceof Error && "code" in error ? String(error.code) : "");
    }
  });
}

function openRequest(url: URL, outgoing: OutgoingRequest, sentHeaders: HeaderList): ClientRequest {
  return (url.protocol === "https:" ? httpsRequest : httpRequest)(url, {
    method: outgoing.method,
    headers: sentHeaders.flat(),
    // A new connection: the app may close a kept-alive one at the moment it is used again.
    agent: false,
    ...(outgoing.allowRemote === true ? {} : { lookup: outgoing.lookUp ?? createLocalLookUp() }),
  });
}

function collectBody(response: IncomingMessage, chunks: Buffer[], maxBytes: number, tooLarge: () => void): void {
  let size = 0;
  response.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
    else tooLarge();
  });
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new PigeonholeError("invalid_argument", `"${text}" is not an http or https URL.`);
}

function pairs(raw: readonly string[]): HeaderList {
  const list: HeaderList = [];
  for (let index = 0; index + 1 < raw.length; index += 2) list.push([raw[index] ?? "", raw[index + 1] ?? ""]);
  return list;
}

function failureOf({ code = "" }: NodeJS.ErrnoException): SendFailure {
  if (code === NOT_LOCAL) return "not_local";
  if (code === "ECONNREFUSED") return "refused";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "name_unknown";
  return /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code) ? "certificate" : "broken";
}

function describe(failure: SendFailure, url: URL, detail: string): string {
  const { host, hostname } = url;
  const because = detail === "" ? "" : ` (${detail})`;
  switch (failure) {
    case "refused":
      return `Nothing listens at ${host}. Is the app running?`;
    case "name_unknown":
      return `The name ${hostname} is not known.`;
    case "not_local":
      return `${hostname} is outside this machine and its private network; --allow-remote permits that.`;
    case "timeout":
      return `${host} did not answer in full within ${detail}.`;
    case "aborted":
      return "The request was aborted.";
    case "broken":
      return `The connection to ${host} broke${because}.`;
    case "answer_too_large":
      return `The answer was longer than ${detail}; the rest was not read.`;
    case "certificate":
      return `The certificate of ${host} cannot be trusted${because}.`;
    case "invalid_request":
      return `The method or a header cannot be sent over HTTP${because}.`;
  }
}
