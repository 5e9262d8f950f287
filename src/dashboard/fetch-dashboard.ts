import { Readable } from "node:stream";
import type { FetchHandler } from "../http/fetch-mount.js";
import type { BodyFields } from "../web/body-fields.js";
import { bodyConsumed, readFields } from "../web/read-fields.js";
import { SAFETY_HEADERS, type WebAnswer } from "../web/web-answer.js";
import { type DashboardRequest, MAX_ACTION_BYTES } from "./dashboard-request.js";
import { elsewhere, splitMount } from "./split-mount.js";

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
    if (place === undefined) return toResponse(request, elsewhere());
    const found = await answer({
      ...place,
      method: request.method,
      original: request,
      header: (name) => request.headers.get(name) ?? (name === "host" ? host : undefined),
      readBody: () => readBody(request),
    });
    return toResponse(request, found);
  };
}

async function readBody({ body, bodyUsed }: Request): Promise<BodyFields> {
  if (bodyUsed) throw bodyConsumed();
  const stream = body === null ? Readable.from([]) : Readable.fromWeb(body);
  try {
    return await readFields(stream, MAX_ACTION_BYTES);
  } finally {
    // Lets the sender stop.
    stream.destroy();
  }
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
