import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { SECOND } from "../../base/duration.js";
import { errorAnswerFor } from "../api/error-answer.js";
import { BodyFields } from "../api/body-fields.js";
import type { PageApiErrorBody } from "../api/page-api.js";
import { PageApiError } from "../api/page-api-error.js";
import { type PageApiRoute, findPageApiRoute } from "../api/page-api-route.js";
import { readRequestBody } from "../capture-port/read-request-body.js";
import type { EventStream } from "./event-stream.js";
import { type GuardSecrets, guardRequest } from "./guard.js";
import { SAFETY_HEADERS, contentSecurityPolicy, type createPageFiles } from "./page-files.js";

const BODY_TIMEOUT_MS = 10 * SECOND;
const STREAM_PATH = "/api/stream";

export interface PageListenerOptions {
  /** Read for every request, since the port is known only once it listens. */
  guard: () => GuardSecrets;
  routes: readonly PageApiRoute[];
  stream: EventStream;
  files: ReturnType<typeof createPageFiles>;
  /** Largest JSON body of a change. */
  maxBodyBytes: number;
}

/** The page and its API. The guard checks every request first. */
export function createPageListener(options: PageListenerOptions): RequestListener {
  const { guard, routes, stream, files, maxBodyBytes } = options;

  async function answerApi(req: IncomingMessage, res: ServerResponse, path: string, query: string): Promise<void> {
    const match = findPageApiRoute(routes, req.method === "HEAD" ? "GET" : (req.method ?? ""), path);
    switch (match.kind) {
      case "no_such_path":
        return sendError(res, 404, { code: "no_such_path", message: `There is no ${path}.` });
      case "wrong_method":
        return sendError(res, 405, { code: "wrong_method", message: `${path} does not take ${req.method}.` });
      case "found": {
        const body = req.method === "POST" ? await readFields(req, maxBodyBytes) : new BodyFields({});
        const result = await match.route.handle({ id: match.id, query: new URLSearchParams(query), body });
        return sendJson(res, 200, result);
      }
    }
  }

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const verdict = guardRequest(req, guard());
    switch (verdict.kind) {
      case "refuse":
        return refuse(req, res, verdict);
      case "enter":
        return enter(req, res, verdict.cookie);
      case "pass":
    }
    const [path, query] = splitUrl(req.url ?? "/");
    const isRead = req.method === "GET" || req.method === "HEAD";
    if (path === STREAM_PATH && req.method === "GET") return stream.open(req, res);
    if (path.startsWith("/api/")) return answerApi(req, res, path, query);
    if (isRead && files.serve(path, res)) return;
    sendError(res, isRead ? 404 : 405, { code: "no_such_path", message: `There is no ${path}.` });
  }

  return (req, res) => {
    for (const [name, value] of Object.entries(SAFETY_HEADERS)) res.setHeader(name, value);
    res.setHeader("content-security-policy", contentSecurityPolicy());
    res.setHeader("cache-control", "no-store");
    answer(req, res).catch((error: unknown) => {
      const { status, body } = errorAnswerFor(error);
      if (res.headersSent) res.destroy();
      else sendError(res, status, body);
    });
  };
}

/**
 * Goes to the page without the token in its URL. After a link on another site, such as a terminal in a browser, the
 * browser treats the whole chain of redirects as cross-site and does not send the strict cookie. A page of ours that
 * navigates by itself starts a new chain.
 */
function enter({ headers }: IncomingMessage, res: ServerResponse, cookie: string): void {
  const site = headers["sec-fetch-site"];
  const isForeign = site === "cross-site" || site === "same-site";
  const onward: Record<string, string> = isForeign ? { refresh: "0; url=/" } : { location: "/" };
  res.writeHead(isForeign ? 200 : 303, {
    ...onward,
    "set-cookie": cookie,
    "content-length": 0,
    "content-type": "text/html",
  });
  res.end();
}

function refuse(
  req: IncomingMessage,
  res: ServerResponse,
  { status, code, message }: { status: number; code: string; message: string },
): void {
  // The unread rest of a body would be parsed as the next request.
  res.setHeader("connection", "close");
  req.resume();
  if (req.headers.accept?.includes("text/html") !== true) return sendError(res, status, { code, message });
  res.writeHead(status, { "content-type": "text/plain; charset=utf-8" });
  res.end(`${message}\n`);
}

async function readFields(req: IncomingMessage, maxBytes: number): Promise<BodyFields> {
  const read = await readRequestBody(req, { maxBytes, timeoutMs: BODY_TIMEOUT_MS });
  switch (read.kind) {
    case "read":
      return new BodyFields(parseJson(Buffer.from(read.body).toString()));
    case "too_large":
      throw new PageApiError(413, { code: "too_large", message: `A body may have at most ${maxBytes} bytes.` });
    case "timeout":
    case "busy":
    case "aborted":
      throw new PageApiError(408, { code: "body_timeout", message: "The body did not arrive in time." });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new PageApiError(400, { code: "not_json", message: "The body is not JSON." });
  }
}

function splitUrl(url: string): [path: string, query: string] {
  const at = url.indexOf("?");
  return at === -1 ? [url, ""] : [url.slice(0, at), url.slice(at + 1)];
}

function sendError(res: ServerResponse, status: number, body: PageApiErrorBody): void {
  sendJson(res, status, body);
}

function sendJson(res: ServerResponse, status: number, value: unknown): void {
  if (res.destroyed) return;
  const bytes = Buffer.from(JSON.stringify(value));
  res.writeHead(status, { "content-type": "application/json; charset=utf-8", "content-length": bytes.byteLength });
  // Node omits the body in the answer to a HEAD.
  res.end(bytes);
}
