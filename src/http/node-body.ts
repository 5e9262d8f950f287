import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import getRawBody from "raw-body";
import type { BodyRead, BodyRoom } from "./delivery-request.js";
import { CHUNK_OVERHEAD_BYTES, PackedChunks } from "./packed-chunks.js";
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
  return new Promise((resolve) => {
    const packed = room.isLong ? new Readable({ read: () => undefined }) : undefined;
    // Node's own limit is 300 s and is checked every 30 s.
    const deadline = room.deadlines.begin({ expire: () => settle({ kind: "body_timeout" }) });
    const settle = (read: BodyRead): void => {
      room.deadlines.end(deadline);
      // raw-body releases what it holds.
      packed?.destroy();
      resolve(read);
    };
    const refuse = (kind: "too_large" | "overloaded"): void => settle({ kind });
    if (packed === undefined) countChunks(req, room, refuse);
    else packChunks(req, { packed, chunks: new PackedChunks(room), refuse });
    getRawBody(packed ?? req, { limit: room.maxBytes, length: req.headers["content-length"] ?? null }).then(
      (body) => settle({ kind: "read", body }),
      (error: unknown) => settle({ kind: isTooLarge(error) ? "too_large" : "body_aborted" }),
    );
    // An earlier middleware paused the stream to keep it for later; raw-body would wait without end.
    if (req.readableFlowing === false) req.resume();
  });
}

/** The few chunks of a short body are kept as they are. */
function countChunks(req: NodeRequest, room: BodyRoom, refuse: (kind: "overloaded") => void): void {
  req.on("data", (chunk: Uint8Array) => {
    if (!room.take(chunk.byteLength + CHUNK_OVERHEAD_BYTES)) refuse("overloaded");
  });
}

interface Packing {
  packed: Readable;
  chunks: PackedChunks;
  refuse: (kind: "too_large" | "overloaded") => void;
}

/** Passes on the chunks of a request, small ones together, until the body is refused or its reader ends. */
function packChunks(req: NodeRequest, { packed, chunks, refuse }: Packing): void {
  const push = (blocks: Uint8Array[]): void => {
    for (const block of blocks) packed.push(block);
  };
  req.on("data", (chunk: Uint8Array) => {
    if (packed.destroyed) return;
    const blocks = chunks.add(chunk);
    if (typeof blocks === "string") refuse(blocks);
    else push(blocks);
  });
  req.on("end", () => {
    if (packed.destroyed) return;
    // It is read once more, to join and to verify it.
    countRead(chunks.length);
    push(chunks.rest());
    packed.push(null);
  });
  const abort = (): void => {
    if (!req.readableEnded) packed.destroy(new Error("The sender disconnected."));
  };
  req.on("error", abort).on("close", abort);
}

/** Given what {@link isUnread} excludes, raw-body's other failures all mean that the sender disconnected. */
function isTooLarge(error: unknown): boolean {
  return error instanceof Error && "type" in error && error.type === "entity.too.large";
}
