import type { Clock } from "../base/clock.js";
import type { Credential } from "./credential.js";
import { NoAnswerError } from "./errors.js";
import { type PrintableCause, copyPrintableCause } from "./printable-cause.js";
import { readAnswerBody } from "./read-answer-body.js";

/** The part of `fetch` that is used. Any function like it works. */
export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>;

/** A request as it is sent. */
export interface WireRequest {
  /** Name of the call, for errors. */
  call: string;
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** The answer. */
export interface WireAnswer {
  status: number;
  headers: Headers;
  /** Undefined when it was over the limit. */
  text: string | undefined;
}

export interface AttemptDeps {
  fetch: FetchFunction;
  clock: Clock;
  credential: Credential;
  timeoutMs: number;
  maxAnswerBytes: number;
}

const timedOut = Symbol("timed out");

/**
 * Sends a request once and reads the answer whole. Rejects with {@link NoAnswerError}, or with the signal's reason when
 * it is aborted, even if `fetch` ignores its signal.
 */
export async function attempt(
  request: WireRequest,
  signal: AbortSignal | undefined,
  deps: AttemptDeps,
): Promise<WireAnswer> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const timer = deps.clock.setTimer(() => controller.abort(timedOut), deps.timeoutMs);
  // Not AbortSignal.any: on Node 20 a long-lived signal keeps the signals made from it in memory.
  const onAbort = (): void => controller.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([exchange(request, controller.signal, deps), whenAborted(controller.signal)]);
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    if (controller.signal.reason === timedOut) throw noAnswerInTime(request.call, deps.timeoutMs);
    const cause = copyPrintableCause(error, (text) => deps.credential.redact(text));
    throw connectionFailed(request.call, cause);
  } finally {
    timer.cancel();
    signal?.removeEventListener("abort", onAbort);
  }
}

async function exchange(request: WireRequest, signal: AbortSignal, deps: AttemptDeps): Promise<WireAnswer> {
  const { method, url, headers, body } = request;
  const init: RequestInit = { method, headers, redirect: "manual", signal, ...(body === undefined ? {} : { body }) };
  const response = await deps.fetch(url, init);
  return {
    status: response.status,
    headers: response.headers,
    text: await readAnswerBody(response, deps.maxAnswerBytes),
  };
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

function noAnswerInTime(call: string, timeoutMs: number): NoAnswerError {
  const message = `no answer within ${timeoutMs} ms`;
  return new NoAnswerError({ call, reason: "timeout", mayHaveArrived: true, message, cause: undefined });
}

function connectionFailed(call: string, cause: PrintableCause | undefined): NoAnswerError {
  const { code, syscall = "" } = withCode(cause) ?? withParserReason(cause) ?? {};
  // A host can also become unreachable on an open connection.
  const mayHaveArrived = code === undefined || !BEFORE_SENDING.test(code) || /^(?:read|write)/.test(syscall);
  const what = mayHaveArrived
    ? "the connection broke off before the answer was complete"
    : "no connection could be made";
  const message = code === undefined ? what : `${what} (${code})`;
  return new NoAnswerError({ call, reason: "connection", mayHaveArrived, message, cause });
}

/** Codes of Node and undici for a connection that was never made. */
const BEFORE_SENDING =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_\w+|ENETUNREACH|EHOSTUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_CERT_\w+|CERT_\w+|\w*SELF_SIGNED\w*|UNABLE_TO_\w+)$/;

/** The parser's own words at the end of its message: one of a fixed set, never a part of the answer. */
const PARSER_REASON = /\(([^()]{1,100})\)$/;

/** fetch of Node 24 and newer gives no code for an answer that is not HTTP. The end of the error's message says it. */
function withParserReason(error: PrintableCause | undefined): { code: string; syscall?: string } | undefined {
  if (error === undefined) return undefined;
  if (error.name === "HTTPParserError") return { code: PARSER_REASON.exec(error.message)?.[1] ?? error.name };
  return withParserReason(error.cause as PrintableCause | undefined);
}

/** The first cause in the chain that has a code. fetch wraps the original error. */
function withCode(error: PrintableCause | undefined): PrintableCause | undefined {
  if (error === undefined || error.code !== undefined) return error;
  return withCode(error.cause as PrintableCause | undefined);
}
