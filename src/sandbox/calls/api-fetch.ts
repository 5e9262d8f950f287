import type { Api, ApiRequest } from "./create-api.js";
import { encodeAnswer } from "./encode-answer.js";

/** The part of the global `fetch` that a client of the API needs. */
export type ApiFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * A `fetch` that calls the API without a socket: `createClient({ fetch })`. It answers for any host. Rejects like
 * fetch, without an answer or when the signal is aborted. The call may have taken effect then.
 */
export function createApiFetch(api: Api): ApiFetch {
  return async (input, init) => {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    const answer = await untilAborted(request.signal, answerOf(api, request));
    if (answer === "no_answer") {
      throw new TypeError("fetch failed", {
        cause: Object.assign(new Error("socket hang up"), { code: "ECONNRESET" }),
      });
    }
    const { headers, content } = encodeAnswer(answer);
    return new Response(content, { status: answer.status, headers });
  };
}

async function answerOf(api: Api, request: Request): ReturnType<Api["handle"]> {
  const url = new URL(request.url);
  const call: ApiRequest = {
    method: request.method,
    url: url.pathname + url.search,
    headers: Object.fromEntries(request.headers),
    body: new Uint8Array(await request.arrayBuffer()),
  };
  return api.handle(call);
}

async function untilAborted<Value>(signal: AbortSignal, promise: Promise<Value>): Promise<Value> {
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error);
  });
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
