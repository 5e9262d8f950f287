import type { Receiver } from "pigeonhole";

/** Writes an effect with `ctx.commit` and records a contact event. */
export const LEDGER = "ledger";
/** Only records a contact event. */
export const COURIER = "courier";

/** No unique constraint: a second effect of the same event must show. */
export const EFFECT_TABLE =
  "CREATE TABLE IF NOT EXISTS effect (event_id TEXT NOT NULL, attempt INTEGER NOT NULL) STRICT";

/** The handlers of the application under torture, the same in its processes and where a state is checked. */
export function registerHandlers(receiver: Receiver): void {
  receiver.on(
    "*",
    (event, ctx) => {
      ctx.contactEvents.record(contactEvent(LEDGER, event.id), { key: "note" });
      return ctx.commit(({ db }) => {
        // The application's own table comes with its first effect, so that the package alone makes the file.
        db.exec(EFFECT_TABLE);
        db.prepare("INSERT INTO effect (event_id, attempt) VALUES (?, ?)").run(event.id, ctx.attempt);
        if (failsFirst(event.data) && ctx.attempt === 1) throw new Error("The first attempt fails.");
      });
    },
    { name: LEDGER },
  );
  receiver.on(
    "*",
    (event, ctx) => {
      if (failsFirst(event.data) && ctx.attempt === 1) throw new Error("The first attempt fails.");
      ctx.contactEvents.record(contactEvent(COURIER, event.id), { key: "note" });
    },
    { name: COURIER },
  );
}

/** An event may ask its handlers to fail in their first attempt. */
function failsFirst(data: unknown): boolean {
  return (data as { failFirst?: boolean }).failFirst === true;
}

function contactEvent(handler: string, eventId: string) {
  return { name: `${handler}.done`, email: "someone@example.com", createContact: true, properties: { eventId } };
}
