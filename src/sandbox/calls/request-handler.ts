import type { IncomingMessage, ServerResponse } from "node:http";
import { untilAborted } from "../../base/wait.js";
import type { ApiAnswer } from "../api/api-handlers.js";

/** A request over any transport. */
export interface ApiRequest {
  method: string;
  /** Encoded, as on the request line. */
  path: string;
  /** The query, without its question mark. */
  search: string;
  /** By lower-case name. */
  headers: Readonly<Record<string, string | undefined>>;
  body: Uint8Array;
  /** The network address of the caller. @default none, for a call in this process */
  ip?: string | undefined;
}

/** What answers requests: the API of the service, or the control API. */
export interface RequestHandler {
  /** Largest body of a request, in bytes. @default no body is read */
  bodyLimit?(method: string, path: string): number;
  /** "no_answer" means that the connection must break off. Never rejects. */
  handle(request: ApiRequest): Promise<ApiAnswer | "no_answer">;
}

/** The part of the global `fetch` that a client of the API needs. */
export type ApiFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * A `fetch` that calls the API without a socket: `createClient({ fetch })`. It answers for any host. Rejects like
 * fetch, without an answer or when the signal is aborted. The call may have taken effect then.
 */
export function createApiFetch(api: RequestHandler): ApiFetch {
  return async (input, init) => {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    const answer = await untilAborted(answerFetch(api, request), request.signal);
    if (answer !== "no_answer") {
      const { headers, content } = encodeAnswer(answer);
      return new Response(content, { status: answer.status, headers });
    }
    const cause = Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
    throw new TypeError("fetch failed", { cause });
  };
}

async function answerFetch(api: RequestHandler, request: Request): ReturnType<RequestHandler["handle"]> {
  const { pathname: path, search } = new URL(request.url);
  const body = new Uint8Array(await request.arrayBuffer());
  const headers = Object.fromEntries(request.headers);
  return api.handle({ method: request.method, path, search: search.slice(1), headers, body });
}

/** Answers a request of node:http. Never throws and never rejects. */
export function answerNode(api: RequestHandler, req: IncomingMessage, res: ServerResponse): void {
  // Only the connection can fail here, so no answer is possible.
  answerSocket(api, req, res).catch(() => req.socket.destroy());
}

async function answerSocket(api: RequestHandler, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { method = "", url = "", socket } = req;
  const [path = "", ...rest] = url.split("?");
  const body = await readUpTo(req, (api.bodyLimit?.(method, path) ?? 0) + 1);
  const headers = headersOf(req);
  const answer = await api.handle({ method, path, search: rest.join("?"), headers, body, ip: socket.remoteAddress });
  if (answer === "no_answer") {
    socket.destroy();
    return;
  }
  const encoded = encodeAnswer(answer);
  // The unread rest of the body would be parsed as the next request.
  res.writeHead(answer.status, { ...encoded.headers, ...(req.complete ? {} : { connection: "close" }) });
  res.end(encoded.content);
}

/** An answer as it is written: the bytes of a file as they are, anything else as JSON. */
function encodeAnswer({ body, headers }: ApiAnswer) {
  const isFile = body instanceof Uint8Array;
  const content = isFile ? (body as Uint8Array<ArrayBuffer>) : new TextEncoder().encode(JSON.stringify(body));
  const type: Record<string, string> = isFile ? {} : { "content-type": "application/json; charset=utf-8" };
  return { headers: { ...headers, ...type, "content-length": String(content.byteLength) }, content };
}

/** The body, or its beginning if it is too long: enough to detect that. */
async function readUpTo(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    const settle = (): void => resolve(Buffer.concat(chunks));
    req.on("data", (chunk: Buffer) => {
      // Read and dropped: a sender whose bytes are not read would not receive the answer.
      if (length >= maxBytes) return;
      chunks.push(chunk);
      length += chunk.byteLength;
      if (length >= maxBytes) settle();
    });
    req.once("end", settle);
    req.once("error", reject);
    req.once("close", () => reject(new Error("The request was cut off.")));
  });
}

function headersOf({ headers }: IncomingMessage): ApiRequest["headers"] {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? []].flat().join(", ")]));
}
