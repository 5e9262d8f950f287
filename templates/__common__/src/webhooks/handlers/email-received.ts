import type { HandlerContext } from "pigeonhole";
import type { WebhookEvent } from "../webhook-event.js";

/**
 * Runs after the delivery was answered. It may run again after a crash or an error, so give whatever you call the key
 * `ctx.idempotencyKey("…")`, and log no addresses or texts.
 */
export async function onEmailReceived(event: WebhookEvent<"email.received">, ctx: HandlerContext): Promise<void> {
  ctx.log.info({ messageId: event.data.messageId }, "email.received");
}
