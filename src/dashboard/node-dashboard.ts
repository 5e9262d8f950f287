import type { IncomingMessage, ServerResponse } from "node:http";
import { readRequestBody } from "../dev/capture-port/read-request-body.js";
import type { NodeMiddleware } from "../http/node-mount.js";
import { DASHBOARD_HEADERS } from "./dashboard-files.js";
import {
  ACTION_TIMEOUT_MS,
  type DashboardAnswer,
  type DashboardRequest,
  MAX_ACTION_BYTES,
  type RequestBody,
  type StreamSink,
  parseBody,
} from "./dashboard-request.js";
import { splitMount } from "./split-mount.js";

/** A client that reads so slowly is disconnected; it connects again. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/** What Express and Connect add. */
interface MountedRequest extends IncomingMessage {
  originalUrl?: unknown;
  body?: unknown;
}

type ReadRequest = Omit<DashboardRequest, "signal">;

/** For Express 5 and 4, Connect and plain node:http. */
export function createNodeDashboard(
  answer: (request: DashboardRequest) => Promise<DashboardAnswer>,
  path: string | undefined,
): NodeMiddleware {
  return function pigeonholeDashboard(req, res, next) {
    const request = readRequest(req, path);
    if (request === undefined && next !== undefined) return next();
    const closing = new AbortController();
    res.once("close", () => closing.abort());
    answer({ ...(request ?? unmounted(req)), signal: closing.signal })
      .then((found) => writeAnswer(req, res, found))
      .catch(() => res.destroy());
  };
}

/** Undefined for a request beside the mount. */
function readRequest(req: MountedRequest, mount: string | undefined): ReadRequest | undefined {
  const url = req.url ?? "/";
  const original = typeof req.originalUrl === "string" ? req.originalUrl : url;
  const place = splitMount({ url, original, mount });
  if (place === undefined) return undefined;
  return {
    ...place,
    method: req.method ?? "",
    original: req,
    header(name) {
      // HTTP/2 has it under a name of its own.
      const value = req.headers[name] ?? (name === "host" ? req.headers[":authority"] : undefined);
      return Array.isArray(value) ? value.join(", ") : value;
    },
    readBody: () => readJson(req),
  };
}

/** Answered with 404, since no path of the dashboard begins so. */
function unmounted(req: MountedRequest): ReadRequest {
  return {
    method: req.method ?? "",
    path: "//",
    query: "",
    bareMount: undefined,
    original: req,
    header: () => undefined,
    readBody: () => Promise.resolve({ kind: "not_json" }),
  };
}

/** An app may parse all JSON before its routes. */
async function readJson(req: MountedRequest): Promise<RequestBody> {
  if (req.readableDidRead || req.readableEnded) return readParsed(req.body);
  const reading = readRequestBody(req, { maxBytes: MAX_ACTION_BYTES, timeoutMs: ACTION_TIMEOUT_MS });
  // An earlier middleware may have paused it.
  if (req.readableFlowing === false) req.resume();
  const read = await reading;
  switch (read.kind) {
    case "read":
      return parseBody(Buffer.from(read.body).toString());
    case "too_large":
      return { kind: "too_large" };
    case "timeout":
    case "busy":
    case "aborted":
      return { kind: "timeout" };
  }
}

function readParsed(body: unknown): RequestBody {
  if (body instanceof Uint8Array) return parseBody(Buffer.from(body).toString());
  if (typeof body === "string") return parseBody(body);
  return typeof body === "object" && body !== null ? { kind: "read", json: body } : { kind: "consumed" };
}

function writeAnswer(req: IncomingMessage, res: ServerResponse, answer: DashboardAnswer): void {
  if (res.headersSent || res.destroyed) return;
  res.removeHeader("x-powered-by");
  const headers = { ...DASHBOARD_HEADERS, ...answer.headers };
  if (answer.kind === "stream") {
    res.writeHead(200, headers).flushHeaders();
    res.on("error", () => undefined);
    const close = answer.open(sinkOf(res));
    res.on("close", close);
    return;
  }
  // The unread rest of a body would be parsed as the next request.
  const isUnread = req.method === "POST" && !req.complete;
  const bytes = typeof answer.body === "string" ? Buffer.from(answer.body) : answer.body;
  res.writeHead(answer.status, {
    ...headers,
    "content-length": bytes.byteLength,
    ...(isUnread ? { connection: "close" } : {}),
  });
  if (isUnread) req.resume();
  // Node omits the body in the answer to a HEAD.
  res.end(bytes);
}

function sinkOf(res: ServerResponse): StreamSink {
  return {
    write(text) {
      if (res.destroyed || res.writableEnded) return false;
      if (res.writableLength > MAX_UNREAD_BYTES) {
        res.destroy();
        return false;
      }
      res.write(text);
      return true;
    },
    end: () => void res.end(),
  };
}
