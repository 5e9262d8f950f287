import type { HandlerContext, ReceiverOptions } from "pigeonhole";
import { makeEvent, openReceiver, post } from "../support/receiver.js";

const QUICK_RETRY = { retry: { initialMs: 1, factor: 1, jitter: 0, maxAttempts: 5 } };

/** Delivers one event to one handler, which is retried at once. */
export async function deliverOne(
  handler: (ctx: HandlerContext) => unknown,
  options: Partial<ReceiverOptions<Record<never, never>>> = {},
) {
  const receiver = openReceiver({ ...QUICK_RETRY, ...options });
  receiver.on("email.sent", (_, ctx) => handler(ctx));
  await receiver.start();
  const event = makeEvent();
  await post(receiver, event);
  return { receiver, event };
}
