import type { Store } from "pigeonhole";
import type { PostgresStore } from "pigeonhole/postgres";
import { openWithApi } from "./open-with-api.js";

/**
 * A receiver whose handler has recorded a contact event; returns its file and the event that it was recorded for. The
 * store is a new file unless another is given.
 */
export function recordInHandler(other?: Store | PostgresStore): Promise<{ file: string; eventId: string }> {
  const { receiver, receive } = openWithApi(other);
  receiver.on("email.sent", (_event, ctx) => ctx.contactEvents.record({ name: "greeted", email: "ann@example.com" }));
  return receive();
}
