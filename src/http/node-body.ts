import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import getRawBody from "raw-body";
import type { BodyRead, BodyRoom } from "./delivery-request.js";
import { CHUNK_OVERHEAD_BYTES, PackedChunks } from "./packed-chunks.js";
import { countRead } from "./read-turns.js";

/** A request of node:http with what body parsers leave on it. */
export interface NodeRequest extends IncomingMessage {
  body?: unknown;
  rawBody?: unknown;
}

/**
 * The body's exact bytes, from wherever they still are: the unread stream, bytes in `req.body` (express.raw), bytes in
 * `req.rawBody` (a `verify` hook, cloud functions). Anything else is `body_consumed` at once: waiting on a read stream
 * would hang, and a parsed body written as JSON again is not what was signed.
 */
export function readNodeBody(req: NodeRequest, room: BodyRoom): Promise<BodyRead> {
  return isUnread(req) ? readStream(req, room) : Promise.resolve(readKept(req, room));
}

function readKept(req: NodeRequest, room: BodyRoom): BodyRead {
  const body = keptBytes(req);
  if (body !== undefined) return body.byteLength > room.maxBytes ? { kind: "too_large" } : { kind: "read", body };
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

function readStream(req: NodeRequest, room: BodyRoom): Promise<BodyRead> {
  // The sender went away before the mount was reached.
  if (!req.readable) return Promise.resolve({ kind: "body_aborted" });
  return new Promise((resolve) => {
    const packed = room.countsChunks ? new Readable({ read: () => undefined }) : undefined;
    // Node's own limit is 300 s and looked at every 30 s.
    const late = { expire: () => settle({ kind: "body_timeout" }) };
    room.deadlines.begin(late);
    const settle = (read: BodyRead): void => {
      room.deadlines.end(late);
      // raw-body lets go of what it has.
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
    // An earlier middleware paused the stream to keep it for later; raw-body would wait for ever.
    if (req.readableFlowing === false) req.resume();
  });
}

/** The bytes of a short body are counted already, so only what its chunks take up beside it is left. */
function countChunks(req: NodeRequest, room: BodyRoom, refuse: (kind: "overloaded") => void): void {
  req.on("data", () => {
    if (!room.take(CHUNK_OVERHEAD_BYTES)) refuse("overloaded");
  });
}

interface Packing {
  packed: Readable;
  chunks: PackedChunks;
  refuse: (kind: "too_large" | "overloaded") => void;
}

/** Hands the chunks of a request on, small ones together, until somebody has no use for more. */
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
    if (!req.readableEnded) packed.destroy(new Error("The sender went away."));
  };
  req.on("error", abort).on("close", abort);
}

/** Given what {@link isUnread} excludes, raw-body's other failures all mean that the sender went away. */
function isTooLarge(error: unknown): boolean {
  return error instanceof Error && "type" in error && error.type === "entity.too.large";
}
