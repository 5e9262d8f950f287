import type { Timer } from "../base/clock.js";
import { ANSWER_TYPE, answerRequest, type BodyRead } from "./answer-request.js";
import type { BodyShare } from "./body-budget.js";
import type { Intake } from "./intake.js";

/** A request handler of the Fetch standard. */
export type FetchHandler = (request: Request) => Promise<Response>;

/** A handler for Hono, Next.js route handlers, Bun and Deno. Never rejects. */
export function createFetch(intake: Intake): FetchHandler {
  return async function pigeonhole(request) {
    const answer = await answerRequest(intake, {
      method: request.method,
      header: (name) => request.headers.get(name) ?? undefined,
      readBody: (share) => readFetchBody(request, intake, share),
    });
    const { status, headers, body } = answer;
    // A string, even an empty one, would be given a content type.
    if (body === "") return new Response(null, { status, headers });
    return new Response(body, { status, headers: { "content-type": ANSWER_TYPE, ...headers } });
  };
}

async function readFetchBody(request: Request, intake: Intake, share: BodyShare): Promise<BodyRead> {
  if (request.bodyUsed) return { kind: "body_consumed" };
  if (Number(request.headers.get("content-length")) > intake.maxBodyBytes) return { kind: "too_large" };
  const body: ReadableStream<Uint8Array> | null = request.body;
  if (body === null) return { kind: "read", body: new Uint8Array() };
  if (body.locked) return { kind: "body_consumed" };
  return readChunks(body, intake, share);
}

async function readChunks(body: ReadableStream<Uint8Array>, intake: Intake, share: BodyShare): Promise<BodyRead> {
  const reader = body.getReader();
  const deadline = startDeadline(intake);
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const next = await Promise.race([reader.read(), deadline.passed]);
      if (next === "late") return { kind: "body_timeout" };
      if (next.done) return { kind: "read", body: joinChunks(chunks, length) };
      length += next.value.byteLength;
      if (length > intake.maxBodyBytes) return { kind: "too_large" };
      if (share.countsChunks && !share.take(next.value.byteLength)) return { kind: "overloaded" };
      chunks.push(next.value);
    }
  } catch {
    return { kind: "body_aborted" };
  } finally {
    deadline.timer.cancel();
    // Not cancel(): on Node that destroys the socket under the answer. The server discards what is left.
    reader.releaseLock();
  }
}

function startDeadline({ clock, bodyTimeoutMs }: Intake): { passed: Promise<"late">; timer: Timer } {
  let pass: (late: "late") => void;
  const passed = new Promise<"late">((resolve) => {
    pass = resolve;
  });
  return { passed, timer: clock.setTimer(() => pass("late"), bodyTimeoutMs) };
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
