import { errorName } from "../../base/error-text.js";
import { untilAborted } from "../../base/wait.js";
import { type ReceiverAnswer, readAnswerHeaders } from "./verdict-of-answer.js";
import type { SendPost } from "./send-over-http.js";

/** A receiver without a socket, such as `receiver.fetch`. */
export type ReceiveFetch = (request: Request) => Promise<Response> | Response;

/** Passes each POST to a function instead of a socket. A rejection counts as a broken connection. */
export function sendInProcess(receive: ReceiveFetch): SendPost {
  return async ({ url, headers, body }, signal) => {
    signal.throwIfAborted();
    const where = withoutCredentials(url);
    const request = new Request(where.url, {
      method: "POST",
      headers: { ...headers, ...where.headers },
      body: new Uint8Array(body),
      signal,
    });
    return untilAborted(answerOf(receive, request), signal);
  };
}

/** A Request does not allow credentials in its URL. Over HTTP they are sent as this header. */
function withoutCredentials(text: string): { url: string; headers: Record<string, string> } {
  const url = new URL(text);
  const { username, password } = url;
  if (username === "" && password === "") return { url: text, headers: {} };
  url.username = "";
  url.password = "";
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  return { url: url.href, headers: { authorization: `Basic ${credentials.toString("base64")}` } };
}

async function answerOf(receive: ReceiveFetch, request: Request): Promise<ReceiverAnswer> {
  try {
    const response = await receive(request);
    // The body is not read. A body that was already read cannot be cancelled.
    response.body?.cancel().catch(() => {});
    const read = readAnswerHeaders((name) => response.headers.get(name));
    return { kind: "answered", status: response.status, ...read };
  } catch (error) {
    return { kind: "none", error: `no connection: ${errorName(error)}` };
  }
}
