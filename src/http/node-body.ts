import type { IncomingMessage } from "node:http";
import type { BodyRead, BodyRoom } from "./delivery-request.js";
import { PackedChunks } from "./packed-chunks.js";
import { countRead } from "./watch-connections.js";

/** A request of node:http with what body parsers leave on it. */
export interface NodeRequest extends IncomingMessage {
  body?: unknown;
  rawBody?: unknown;
}

/**
 * The body's exact bytes, from the place that still has them: the unread stream, bytes in `req.body` (express.raw),
 * bytes in `req.rawBody` (a `verify` hook, cloud functions). Anything else is `body_consumed` at once: waiting on a
 * read stream would hang, and a parsed body written as JSON again is not what was signed.
 */
export function readNodeBody(req: NodeRequest, room: BodyRoom): Promise<BodyRead> {
  return isUnread(req) ? readStream(req, room) : Promise.resolve(readKept(req, room));
}

function readKept(req: NodeRequest, room: BodyRoom): BodyRead {
  const body = keptBytes(req);
  if (body === undefined) return { kind: "body_consumed" };
  if (body.byteLength > room.maxBytes) return { kind: "too_large" };
  return room.take(body.byteLength) ? { kind: "read", body } : { kind: "overloaded" };
}

/**
 * True until the first byte was handed out. `req.body` proves nothing: Express 4 sets it to {} for types it skips.
 * A listener for 'data' added in this tick does no harm, as we receive the same chunks; a listener for 'readable' (an
 * async iterator) may keep them. `=== null` excludes decoded streams and imitations of a stream.
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

function readStream(req: NodeRequest, room: BodyRoom): Promise<BodyRead> {
  // The sender disconnected before the mount was reached.
  if (!req.readable) return Promise.resolve({ kind: "body_aborted" });
  if (Number(req.headers["content-length"]) > room.maxBytes) return Promise.resolve({ kind: "too_large" });
  return new Promise((resolve) => {
    /** Undefined once the body is read or refused: what comes after that is not kept. */
    let chunks: PackedChunks | undefined = new PackedChunks(room);
    const settle = (read: BodyRead): void => {
      chunks = undefined;
      room.deadlines.end(deadline);
      resolve(read);
    };
    // Node's own limit is 300 s and is checked every 30 s.
    const deadline = room.deadlines.begin({ expire: () => settle({ kind: "body_timeout" }) });
    const abort = (): void => settle({ kind: "body_aborted" });
    req
      .on("data", (chunk: Uint8Array) => {
        const refusal = chunks?.add(chunk);
        if (refusal !== undefined) settle({ kind: refusal });
      })
      .on("end", () => {
        if (chunks === undefined) return;
        // It is read once more, to join and to verify it.
        if (room.isLong) countRead(chunks.length);
        settle({ kind: "read", body: chunks.join() });
      })
      .on("error", abort)
      .on("close", abort);
    // An earlier middleware paused the stream to keep it for later.
    if (req.readableFlowing === false) req.resume();
  });
}
