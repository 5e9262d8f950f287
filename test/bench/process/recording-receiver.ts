import { createReceiver, type HandlerContext, type ReceiverOptions } from "pigeonhole";
import { createClient } from "pigeonhole/client";
import { quietLogger } from "../contestants/quiet-logger.js";
import { EVENT_TYPE, HANDLER_NAME, SECRET } from "../sample-delivery.js";

export type RecordingReceiver = ReturnType<typeof createReceiver>;

/** A client whose calls hang, so that recording alone is measured and nothing is sent. */
function createDeafClient() {
  const hang: typeof fetch = (_url, init) =>
    new Promise((_resolve, reject) => {
      const signal = init?.signal;
      signal?.addEventListener("abort", () => reject(signal.reason as Error));
    });
  return createClient({ apiKey: "bench", baseUrl: "http://127.0.0.1:1", fetch: hang, timeoutMs: 3_600_000 });
}

/** What the handler does when it records. */
export function recordEvent(eventId: string, ctx: HandlerContext): void {
  ctx.contactEvents.record({ name: EVENT_TYPE, email: "ada@receiver.example", properties: { eventId } });
}

/** A receiver with the one handler; it sends nothing. */
export function openRecordingReceiver(
  store: NonNullable<ReceiverOptions<Record<never, never>>["store"]>,
  handle: (eventId: string, ctx: HandlerContext) => void | Promise<void>,
): RecordingReceiver {
  const receiver = createReceiver({
    secrets: SECRET,
    store,
    logger: quietLogger,
    telemetry: false,
    api: createDeafClient(),
  });
  receiver.on(EVENT_TYPE, (event, ctx) => handle(event.id, ctx), { name: HANDLER_NAME });
  return receiver;
}
