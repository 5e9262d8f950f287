import { type IncomingMessage, type RequestOptions, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { type ReceiverAnswer, readAnswerHeaders } from "./verdict-of-answer.js";

/** One POST to a receiver. */
export interface Post {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** Connect only to one of these resolved and allowed addresses. */
  addresses?: readonly string[] | undefined;
}

/** Sends a POST. Rejects only when the signal is aborted before an answer has begun. */
export type SendPost = (post: Post, signal: AbortSignal) => Promise<ReceiverAnswer>;

/** How much of an answer is read. The content is ignored, but the receiver should not see a broken connection. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** Sends over a new connection and never follows a redirect. */
export const sendOverHttp: SendPost = ({ url, headers, body, addresses }, signal) =>
  new Promise((resolve, reject) => {
    let begun: ReceiverAnswer | undefined;
    // The status line is the answer, even if the body fails.
    const fail = (error: Error & { code?: string }): void => {
      if (begun === undefined && signal.aborted) reject(signal.reason as Error);
      else resolve(begun ?? { kind: "none", error: `no connection: ${error.code ?? error.name}` });
    };
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
        if (bytes > MAX_ANSWER_BYTES) response.destroy();
      });
      response.once("error", settle);
      response.once("close", settle);
    });
    request.on("error", fail);
    // Node reports a 101 neither as an answer nor as an error.
    request.on("upgrade", (response, socket) => {
      socket.destroy();
      resolve(answerOf(response));
    });
    request.end(body);
  });

function answerOf({ statusCode = 0, headers }: IncomingMessage): ReceiverAnswer {
  const read = readAnswerHeaders((name) => [headers[name] ?? null].flat().at(0) ?? null);
  return { kind: "answered", status: statusCode, ...read };
}

function lookupAs(addresses: readonly string[]): NonNullable<RequestOptions["lookup"]> {
  const all = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  return (_, options, done) => {
    const [first] = all;
    if (options.all === true) done(null, all);
    else done(null, first?.address ?? "", first?.family);
  };
}
