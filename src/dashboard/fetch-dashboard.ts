import { systemClock } from "../base/clock.js";
import { LATE, inTime } from "../base/wait.js";
import type { FetchHandler } from "../http/fetch-mount.js";
import { BODY_TIMEOUT_MS, type JsonBody, parseBody } from "../web/json-body.js";
import { SAFETY_HEADERS, type WebAnswer, textAnswer } from "../web/web-answer.js";
import { type DashboardRequest, MAX_ACTION_BYTES } from "./dashboard-request.js";
import { splitMount } from "./split-mount.js";

/** Messages that a client has not read yet; then it is disconnected. */
const MAX_UNREAD_MESSAGES = 100;

/** For Hono, Next.js route handlers, Bun and Deno. Never rejects. */
export function createFetchDashboard(
  answer: (request: DashboardRequest) => Promise<WebAnswer>,
  mount: string | undefined,
): FetchHandler {
  return async (request) => {
    const { host, pathname, search } = new URL(request.url);
    const url = pathname + search;
    const place = splitMount({ url, original: url, mount });
    if (place === undefined) return toResponse(request, textAnswer(404, "The dashboard is mounted elsewhere."));
    const found = await answer({
      ...place,
      method: request.method,
      original: request,
      header: (name) => request.headers.get(name) ?? (name === "host" ? host : undefined),
      readBody: () => readJson(request),
    });
    return toResponse(request, found);
  };
}

async function readJson(request: Request): Promise<JsonBody> {
  if (request.bodyUsed) return { kind: "consumed" };
  if (request.body === null) return { kind: "not_json" };
  const reader = request.body.getReader();
  const reading = readText(reader).catch((): JsonBody => ({ kind: "timeout" }));
  const read = await inTime(reading, systemClock, BODY_TIMEOUT_MS);
  if (read !== LATE) return read;
  cancelRest(reader);
  return { kind: "timeout" };
}

async function readText(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<JsonBody> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    size += next.value.byteLength;
    if (size > MAX_ACTION_BYTES) {
      cancelRest(reader);
      return { kind: "too_large" };
    }
    chunks.push(next.value);
  }
  return parseBody(Buffer.concat(chunks).toString(), MAX_ACTION_BYTES);
}

/** Lets the sender stop. The answer does not wait for it. */
function cancelRest(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  reader.cancel().catch(() => undefined);
}

function toResponse({ method, signal }: Request, answer: WebAnswer): Response {
  const headers = { ...SAFETY_HEADERS, ...answer.headers };
  if (answer.kind === "stream") return new Response(streamOf(answer, signal), { headers });
  const body = typeof answer.body === "string" ? answer.body : new Uint8Array(answer.body);
  return new Response(method === "HEAD" ? null : body, { status: answer.status, headers });
}

function streamOf({ open }: WebAnswer & { kind: "stream" }, signal: AbortSignal): ReadableStream<Uint8Array> {
  let close: () => void = () => undefined;
  let isEnded = false;
  const end = (finish: () => void): void => {
    if (isEnded) return;
    isEnded = true;
    close();
    finish();
  };
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (signal.aborted) {
          end(() => controller.close());
          return;
        }
        signal.addEventListener("abort", () => end(() => controller.close()));
        close = open({
          write(text) {
            if (isEnded) return false;
            if ((controller.desiredSize ?? 0) <= 0) {
              end(() => controller.error(new Error("The client does not read.")));
              return false;
            }
            controller.enqueue(encoder.encode(text));
            return true;
          },
          end: () => end(() => controller.close()),
        });
      },
      cancel: () => end(() => undefined),
    },
    { highWaterMark: MAX_UNREAD_MESSAGES },
  );
}
