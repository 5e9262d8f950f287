import { ANSWER_TYPE, type BodyRead, type BodyRoom, type DeliveryHandler } from "./delivery-request.js";
import { PackedChunks } from "./packed-chunks.js";
import { countRead, countUnread, watchConnections } from "./watch-connections.js";

/** A request handler of the Fetch standard. */
export type FetchHandler = (request: Request) => Promise<Response>;

/** A handler for Hono, Next.js route handlers, Bun and Deno. Never rejects. */
export function createFetch(handle: DeliveryHandler): FetchHandler {
  watchConnections();
  return async function pigeonhole(request) {
    const {
      status,
      headers: given,
      body,
    } = await handle({
      method: request.method,
      header: (name) => request.headers.get(name) ?? undefined,
      readBody: (room) => readFetchBody(request, room),
    });
    const headers = status >= 300 ? { ...given, ...closeHeader(request) } : given;
    // A string, even an empty one, would be given a content type.
    if (body === "") return new Response(null, { status, headers });
    return new Response(body, { status, headers: { "content-type": ANSWER_TYPE, ...headers } });
  };
}

/**
 * The header that closes the connection of a refused body of unknown length. The server would read on, perhaps without
 * end. The sender may miss the answer, and then sends again.
 */
function closeHeader(request: Request): Record<string, string> {
  if (!request.headers.has("transfer-encoding")) return {};
  if (!request.bodyUsed) countUnread();
  return { connection: "close" };
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
  let isLate = false;
  const deadline = room.deadlines.begin({
    expire() {
      isLate = true;
      // The read that waits fails.
      reader.releaseLock();
    },
  });
  const chunks = new PackedChunks(room);
  try {
    for (;;) {
      const next = await reader.read();
      if (next.done) {
        // It is read once more, to join and to verify it.
        countRead(chunks.length);
        return { kind: "read", body: chunks.join() };
      }
      countRead(next.value.byteLength);
      const refusal = chunks.add(next.value);
      if (refusal !== undefined) return { kind: refusal };
    }
  } catch {
    return { kind: isLate ? "body_timeout" : "body_aborted" };
  } finally {
    room.deadlines.end(deadline);
    // Not cancel(): on Node that destroys the socket before the answer is sent. The server discards the rest.
    reader.releaseLock();
  }
}
