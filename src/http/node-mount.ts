import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import { type OptionsOf, defineOptions, required } from "../base/options.js";
import type { Answer } from "../protocol/outcome.js";
import { ANSWER_TYPE, type DeliveryHandler } from "./delivery-request.js";
import { checkEndpointPath, createPathMatcher } from "./endpoint-path.js";
import { readNodeBody } from "./node-body.js";
import { countRead, watchConnection, watchConnections } from "./watch-connections.js";

/** A request listener of node:http, which is also an Express or Connect middleware. */
export type NodeMiddleware = (req: IncomingMessage, res: ServerResponse, next?: (error?: unknown) => void) => void;

/** Answers a request of node:http. An Express app is one. */
export type NodeListener = (req: IncomingMessage, res: ServerResponse) => void;

export interface ListenerOptions {
  /**
   * Path of the endpoint, such as "/webhooks/mail", compared as Express does: without the query, letter case and one
   * slash at the end.
   */
  path: string;
  /** Gets every request for another path, untouched; an Express app serves. */
  next: NodeListener;
}

interface Exchange {
  req: IncomingMessage;
  res: ServerResponse;
  clock: Clock;
}

/** The names of {@link ListenerOptions}; both must be given. */
export const LISTENER_OPTIONS = defineOptions("listener", {
  path: required(),
  next: required(),
} satisfies OptionsOf<ListenerOptions>);

/** A body whose announced length is at most this arrives in too few chunks to take much time. */
const SHORT_BODY_BYTES = 16 * 1024;

const NOT_NODES =
  "middleware() got a response that is not Node's, as in routes of Fastify, Koa and Hono: mount it as docs/mounting.md#hosts shows for this framework.";

const HEADERS = new WeakMap<Answer, OutgoingHttpHeaders>();

/** How long a sender that is still sending may go on after its answer. */
const LINGER_MS = 1 * SECOND;

/**
 * A middleware for Express 5, Express 4, Connect and plain node:http (HTTP/1). It answers every request that reaches it
 * and never calls `next`, neither to pass on nor to report an error. Throws where the response is not Node's.
 */
export function createMiddleware(handle: DeliveryHandler, clock: Clock): NodeMiddleware {
  watchConnections();
  return function pigeonhole(req, res) {
    // The framework answers what is thrown here with a 500, so the service sends the delivery again.
    if (!("writeHead" in res)) throw new PigeonholeError("invalid_argument", NOT_NODES);
    handle({
      method: req.method,
      header: (name) => readHeader(req, name),
      readBody: (room) => readNodeBody(req, room),
    })
      .then((answer) => answerWhenParsed({ req, res, clock }, answer))
      // An answer that cannot be written: the service tries again when it gets none.
      .catch(() => res.destroy());
    if (!(Number(req.headers["content-length"]) <= SHORT_BODY_BYTES)) countReads(req);
  };
}

/**
 * A listener for `http.createServer` that answers requests for `path` by `middleware` before the application behind it
 * sees them, which saves what Express costs: most of a request on Node 20 and 22, a fifth to a third of it on Node 24.
 *
 * @throws PigeonholeError `invalid_option` for a path that no request can have or that is a pattern, and for a `next`
 * that is not a function.
 */
export function createListener(middleware: NodeMiddleware, options: ListenerOptions): NodeListener {
  LISTENER_OPTIONS.checkNames(options);
  const { path, next } = options;
  checkEndpointPath(path);
  if (typeof next !== "function") {
    throw new PigeonholeError(
      "invalid_option",
      "next must be the app that serves all other paths, such as an Express app.",
    );
  }
  const isEndpoint = createPathMatcher(path);
  return function pigeonhole(req, res) {
    if (isEndpoint(req.url)) middleware(req, res);
    else next(req, res);
  };
}

/** Also counts what is discarded after a refusal, which takes as long to read. */
function countReads(req: IncomingMessage): void {
  if (req.httpVersionMajor === 1 && "encrypted" in req.socket) watchConnection(req.socket);
  req.on("data", (chunk: Uint8Array) => countRead(chunk.byteLength));
}

function readHeader(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** A small body arrives in one packet with its headers, but Node parses it after this turn of the event loop. */
function answerWhenParsed(exchange: Exchange, answer: Answer): Promise<void> | undefined {
  if (!exchange.req.complete) return setImmediate().then(() => writeAnswer(exchange, answer));
  writeAnswer(exchange, answer);
  return undefined;
}

/** Writes the answer, unless one was written or the connection is closed. Keeps the connection when it can. */
function writeAnswer(exchange: Exchange, answer: Answer): void {
  const { req, res } = exchange;
  if (res.headersSent || res.destroyed) return;
  // Express sets it before any route runs.
  res.removeHeader("x-powered-by");
  const headers = headersOf(answer);
  if (req.complete) {
    res.writeHead(answer.status, headers);
    // An empty string would still cost a second write.
    if (answer.body === "") res.end();
    else res.end(answer.body);
    return;
  }
  res.writeHead(answer.status, { ...headers, connection: "close" }).flushHeaders();
  res.write(answer.body);
  endWhenSent(exchange);
}

/** All headers of an answer, which are the same each time. */
function headersOf(answer: Answer): OutgoingHttpHeaders {
  let headers = HEADERS.get(answer);
  if (headers === undefined) {
    headers = { ...answer.headers, "content-length": Buffer.byteLength(answer.body) };
    if (answer.body !== "") headers["content-type"] = ANSWER_TYPE;
    HEADERS.set(answer, headers);
  }
  return headers;
}

/**
 * If the connection closes while the sender still sends, its kernel discards an answer it has not read yet. So the
 * whole answer is sent, the rest of the body is discarded for a while, and only then the response ends, at which Node
 * closes the connection.
 */
function endWhenSent({ req, res, clock }: Exchange): void {
  const end = (): void => {
    timer.cancel();
    if (!res.writableEnded) res.end();
  };
  const timer = clock.setTimer(end, LINGER_MS);
  req.once("end", end);
  req.once("close", end);
  req.resume();
}
