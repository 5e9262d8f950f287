import { type IncomingMessage, type RequestOptions, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Answer } from "./judge-answer.js";

/** One POST to a receiver. */
export interface Post {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** Connect to one of these addresses and no other: those that were looked up and allowed. */
  addresses?: readonly string[];
}

/** Sends a POST. Never rejects; an abort of the signal ends it with no answer, or with the one that had begun. */
export type SendPost = (post: Post, signal: AbortSignal) => Promise<Answer>;

/** How much of an answer is read. Nothing in it matters; a receiver just should not see its answer broken off. */
const MOST_ANSWER_BYTES = 64 * 1024;

/** Sends over a connection of its own and never follows a redirect. */
export const sendOverHttp: SendPost = ({ url, headers, body, addresses }, signal) =>
  new Promise((resolve) => {
    let begun: Answer | undefined;
    // Whatever becomes of its body, an answer that has begun is the answer.
    const fail = (error: Error & { code?: string }): void =>
      resolve(
        begun ?? {
          kind: "none",
          error: signal.aborted ? reasonOf(signal) : `no connection: ${error.code ?? error.name}`,
        },
      );
    const options: RequestOptions = {
      method: "POST",
      headers: { ...headers, "content-length": String(body.byteLength) },
      agent: false,
      signal,
      ...(addresses === undefined ? {} : { lookup: lookupAs(addresses) }),
    };
    const send = url.startsWith("https:") ? requestHttps : requestHttp;
    const request = send(url, options, (response) => {
      const answer = answerOf(response);
      begun = answer;
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
    // A 101 comes as neither an answer nor an error.
    request.on("upgrade", (response, socket) => {
      socket.destroy();
      resolve(answerOf(response));
    });
    request.end(body);
  });

function answerOf({ statusCode = 0, headers }: IncomingMessage): Answer {
  return { kind: "answered", status: statusCode, retryAfter: headers["retry-after"] ?? null };
}

function lookupAs(addresses: readonly string[]): NonNullable<RequestOptions["lookup"]> {
  const all = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  return (_, options, done) => {
    const [first] = all;
    if (options.all === true) done(null, all);
    else done(null, first?.address ?? "", first?.family);
  };
}

/** Why a signal was aborted, as text. */
export function reasonOf(signal: AbortSignal): string {
  return signal.reason instanceof Error ? signal.reason.message : "aborted";
}
