import type { Clock } from "../base/clock.js";
import { AnswerBytes } from "./answer-bytes.js";
import type { Credential } from "./credential.js";
import { ApiExchange } from "./api-exchange.js";
import { UploadBody, type UploadData } from "./upload-body.js";

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
  /** What is sent instead of a body; undefined when nothing is uploaded. */
  upload: { data: UploadData; maxBytes: number } | undefined;
  /** True when the answer's bytes are left to the caller. */
  downloads: boolean;
}

/** The answer. */
export interface WireAnswer {
  status: number;
  headers: Headers;
  /** Undefined when it was over the limit. */
  text: string | undefined;
  /** The body of a successful download, which is not read yet; undefined otherwise. */
  bytes: AnswerBytes | undefined;
}

export interface AttemptDeps {
  fetch: FetchFunction;
  clock: Clock;
  credential: Credential;
  timeoutMs: number;
  maxAnswerBytes: number;
}

/**
 * Sends a request once and reads the answer whole, unless it downloads something. Rejects with NoAnswerError, with the
 * signal's reason when it is aborted, even if `fetch` ignores its signal, or with the error of the source of an upload.
 */
export async function attempt(
  request: WireRequest,
  signal: AbortSignal | undefined,
  deps: AttemptDeps,
): Promise<WireAnswer> {
  const { call, upload } = request;
  const exchange = new ApiExchange({ ...deps, call, signal });
  const body = upload === undefined ? undefined : new UploadBody({ ...upload, call, exchange });
  let isOpen = false;
  try {
    const answer = await exchange.run(() => send(request, body?.stream, { exchange, deps }));
    isOpen = answer.bytes !== undefined;
    return answer;
  } catch (error) {
    throw body?.failure === undefined ? error : body.failure.error;
  } finally {
    body?.close();
    if (!isOpen) exchange.end();
  }
}

async function send(
  request: WireRequest,
  stream: ReadableStream<Uint8Array> | undefined,
  { exchange, deps }: { exchange: ApiExchange; deps: AttemptDeps },
): Promise<WireAnswer> {
  const { call, method, url, headers, body } = request;
  const { signal } = exchange;
  const init: RequestInit = { method, headers, redirect: "manual", signal };
  // With "manual", fetch keeps a second copy of the stream.
  if (stream !== undefined) Object.assign(init, { body: stream, duplex: "half", redirect: "error" });
  else if (body !== undefined) init.body = body;
  const response = await deps.fetch(url, init).catch(asRedirect);
  const { status, headers: answered } = response;
  if (request.downloads && response.ok) {
    return { status, headers: answered, text: "", bytes: new AnswerBytes({ call, response, exchange }) };
  }
  const text = await readAnswerBody(response, deps.maxAnswerBytes);
  return { status, headers: answered, text, bytes: undefined };
}

/** The redirect that fetch was to refuse, without its status, as a browser's fetch gives one. Other errors stay. */
function asRedirect(error?: { cause?: { message?: unknown } }): Response {
  if (error?.cause?.message === "unexpected redirect") return Response.error();
  throw error;
}

/**
 * The body of an answer as text, or undefined when it has more than `maxBytes`; in that case it is not read to its end.
 */
async function readAnswerBody(response: Response, maxBytes: number): Promise<string | undefined> {
  const body: ReadableStream<Uint8Array> | null = response.body;
  if (body === null) return "";
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  // Counted after decompression, so that a small answer cannot expand into a large one.
  let length = 0;
  for (;;) {
    const next = await reader.read();
    if (next.done) return text + decoder.decode();
    length += next.value.byteLength;
    if (length > maxBytes) {
      // Closes the connection. An error of that is ignored.
      reader.cancel().catch(() => {});
      return undefined;
    }
    text += decoder.decode(next.value, { stream: true });
  }
}
