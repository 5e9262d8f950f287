import type { Receiver } from "pigeonhole";
import type { PostgresTransaction } from "pigeonhole/postgres";
import type { schemas } from "../schemas.js";
import { onEmailReceived } from "./email-received.js";

/**
 * One handler per event type. An event that no handler matches is kept, and can be handled later:
 * `receiver.inbox.retry(id)`.
 */
export function registerHandlers(receiver: Receiver<typeof schemas, PostgresTransaction>): void {
  receiver.on("email.received", onEmailReceived);
}
