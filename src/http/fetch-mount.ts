import type { Deadlines } from "../base/deadlines.js";
import { ANSWER_TYPE, type BodyRead, type BodyRoom, type DeliveryHandler } from "./delivery-request.js";

/** A request handler of the Fetch standard. */
export type FetchHandler = (request: Request) => Promise<Response>;

/** A handler for Hono, Next.js route handlers, Bun and Deno. Never rejects. */
export function createFetch(handle: DeliveryHandler): FetchHandler {
  return async function pigeonhole(request) {
    const { status, headers, body } = await handle({
      method: request.method,
      header: (name) => request.headers.get(name) ?? undefined,
      readBody: (room) => readFetchBody(request, room),
    });
    // A string, even an empty one, would be given a content type.
    if (body === "") return new Response(null, { status, headers });
    return new Response(body, { status, headers: { "content-type": ANSWER_TYPE, ...headers } });
  };
}

async function readFetchBody(request: Request, room: BodyRoom): Promise<BodyRead> {
  if (request.bodyUsed) return { kind: "body_consumed" };
  if (Number(request.headers.get("content-length")) > room.maxBytes) return { kind: "too_large" };
  const body: ReadableStream<Uint8Array> | null = request.body;
  if (body === null) return { kind: "read", body: new Uint8Array() };
  if (body.locked) return { kind: "body_consumed" };
  return readChunks(body, room);
}

async function readChunks(body: ReadableStream<Uint8Array>, room: BodyRoom): Promise<BodyRead> {
  const reader = body.getReader();
  const deadline = startDeadline(room.deadlines);
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const next = await Promise.race([reader.read(), deadline.passed]);
      if (next === "late") return { kind: "body_timeout" };
      if (next.done) return { kind: "read", body: joinChunks(chunks, length) };
      length += next.value.byteLength;
      if (length > room.maxBytes) return { kind: "too_large" };
      if (room.countsChunks && !room.take(next.value.byteLength)) return { kind: "overloaded" };
      chunks.push(next.value);
    }
  } catch {
    return { kind: "body_aborted" };
  } finally {
    deadline.end();
    // Not cancel(): on Node that destroys the socket under the answer. The server discards what is left.
    reader.releaseLock();
  }
}

function startDeadline(deadlines: Deadlines): { passed: Promise<"late">; end: () => void } {
  let pass: (late: "late") => void;
  const passed = new Promise<"late">((resolve) => (pass = resolve));
  const body = { expire: () => pass("late") };
  deadlines.begin(body);
  return { passed, end: () => deadlines.end(body) };
}

function joinChunks(chunks: Uint8Array[], length: number): Uint8Array {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return first;
  const joined = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    joined.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return joined;
}
