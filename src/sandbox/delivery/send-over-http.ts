import { type RequestOptions, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Answer } from "./judge-answer.js";

/** One POST to a receiver. */
export interface Post {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** Connect to this address and no other: the one that was looked up and allowed. */
  address?: string;
}

/** Sends a POST. Never rejects; an abort of the signal ends it with no answer, or with the one that had begun. */
export type SendPost = (post: Post, signal: AbortSignal) => Promise<Answer>;

/** How much of an answer is read. Nothing in it matters; a receiver just should not see its answer broken off. */
const MOST_ANSWER_BYTES = 64 * 1024;

/** Sends over a connection of its own and never follows a redirect. */
export const sendOverHttp: SendPost = ({ url, headers, body, address }, signal) =>
  new Promise((resolve) => {
    const fail = (error: Error & { code?: string }): void =>
      resolve({
        kind: "none",
        error: signal.aborted ? reasonOf(signal) : `no connection: ${error.code ?? error.name}`,
      });
    const options: RequestOptions = {
      method: "POST",
      headers: { ...headers, "content-length": String(body.byteLength) },
      agent: false,
      signal,
      ...(address === undefined ? {} : { lookup: lookupAs(address) }),
    };
    const send = url.startsWith("https:") ? requestHttps : requestHttp;
    const request = send(url, options, (response) => {
      const { statusCode = 0 } = response;
      const answer: Answer = {
        kind: "answered",
        status: statusCode,
        retryAfter: response.headers["retry-after"] ?? null,
      };
      let bytes = 0;
      const settle = (): void => resolve(answer);
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.byteLength;
        if (bytes > MOST_ANSWER_BYTES) response.destroy();
      });
      response.once("error", settle);
      response.once("close", settle);
    });
    request.on("error", fail);
    request.end(body);
  });

function lookupAs(address: string): NonNullable<RequestOptions["lookup"]> {
  const family = address.includes(":") ? 6 : 4;
  return (_, options, done) => {
    if (options.all === true) done(null, [{ address, family }]);
    else done(null, address, family);
  };
}

/** Why a signal was aborted, as text. */
export function reasonOf(signal: AbortSignal): string {
  return signal.reason instanceof Error ? signal.reason.message : "aborted";
}
