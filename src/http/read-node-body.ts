import type { IncomingMessage } from "node:http";
import getRawBody from "raw-body";
import type { BodyRead } from "./answer-request.js";
import type { BodyShare } from "./body-budget.js";
import type { Intake } from "./intake.js";

/** A request of node:http with what body parsers leave on it. */
export interface NodeRequest extends IncomingMessage {
  body?: unknown;
  rawBody?: unknown;
}

/**
 * The body's exact bytes, from wherever they still are: the unread stream, bytes in `req.body` (express.raw), bytes in
 * `req.rawBody` (a `verify` hook, cloud functions). Anything else is `body_consumed` at once: waiting on a read stream
 * would hang, and a parsed body written as JSON again is not what was signed. Resolves within `bodyTimeoutMs`.
 */
export async function readNodeBody(req: NodeRequest, intake: Intake, share: BodyShare): Promise<BodyRead> {
  if (isUnread(req)) return readStream(req, intake, share);
  const body = keptBytes(req);
  if (body !== undefined) return body.byteLength > intake.maxBodyBytes ? { kind: "too_large" } : { kind: "read", body };
  return { kind: "body_consumed" };
}

/**
 * True while not one byte was handed out. `req.body` says nothing here: Express 4 sets it to {} for types it skips.
 * Someone listening for data since this tick is no hindrance, as we shall hear the same chunks; someone pulling with
 * 'readable' (an async iterator) may never let them go. `=== null` keeps decoded streams out, and imitations of a stream.
 */
function isUnread(req: NodeRequest): boolean {
  return (
    req.readableEncoding === null && !req.readableDidRead && !req.readableEnded && req.listenerCount("readable") === 0
  );
}

function keptBytes(req: NodeRequest): Uint8Array | undefined {
  if (req.body instanceof Uint8Array) return req.body;
  if (req.rawBody instanceof Uint8Array) return req.rawBody;
  return undefined;
}

function readStream(req: NodeRequest, intake: Intake, share: BodyShare): Promise<BodyRead> {
  return new Promise((resolve) => {
    // Node's own limit is 300 s and looked at every 30 s.
    const deadline = intake.clock.setTimer(() => resolve({ kind: "body_timeout" }), intake.bodyTimeoutMs);
    const settle = (read: BodyRead): void => {
      deadline.cancel();
      resolve(read);
    };
    if (share.countsChunks) {
      req.on("data", (chunk: Uint8Array) => {
        if (!share.take(chunk.byteLength)) settle({ kind: "overloaded" });
      });
    }
    getRawBody(req, { limit: intake.maxBodyBytes, length: req.headers["content-length"] ?? null }).then(
      (body) => settle({ kind: "read", body }),
      (error: unknown) => settle({ kind: isTooLarge(error) ? "too_large" : "body_aborted" }),
    );
    // An earlier middleware paused the stream to keep it for later; raw-body would wait for ever.
    if (req.readableFlowing === false) req.resume();
  });
}

/** Given what {@link isUnread} excludes, raw-body's other failures all mean that the sender went away. */
function isTooLarge(error: unknown): boolean {
  return error instanceof Error && "type" in error && error.type === "entity.too.large";
}
