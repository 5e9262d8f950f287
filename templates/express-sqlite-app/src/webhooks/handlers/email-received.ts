import type { HandlerContext } from "pigeonhole";
import { insertMailEvent } from "../../tables.js";
import type { WebhookEvent } from "../webhook-event.js";

/**
 * Runs after the delivery was answered. The row and the mark that this event is done are written in one transaction:
 * both or neither, whatever crashes. What you call before may run again; give it the key `ctx.idempotencyKey("…")`.
 */
export function onEmailReceived(event: WebhookEvent<"email.received">, ctx: HandlerContext): Promise<void> {
  return ctx.commit((tx) => insertMailEvent(tx, { ...event, about: event.data.messageId ?? null }));
}
