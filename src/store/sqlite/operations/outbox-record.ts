import type { Database } from "better-sqlite3";
import { PigeonholeError } from "../../../base/error.js";
import type { NewOutboxEvent, RecordResult } from "../../outbox.js";

/** Adds a contact event to the outbox, once per key. */
export function prepareRecordOne(db: Database) {
  const insert = db.prepare<[string, string, number, number]>(`
    INSERT INTO outbox_event (key, body, occurred_at, recorded_at, state) VALUES (?, ?, ?, ?, 'pending')
    ON CONFLICT (key) DO NOTHING`);
  const selectBody = db.prepare<[string], string>("SELECT body FROM outbox_event WHERE key = ?").pluck();

  return (event: NewOutboxEvent, now: number): RecordResult => {
    if (insert.run(event.key, event.body, event.occurredAt, now).changes === 1) return "recorded";
    return isSameEvent(event, selectBody.get(event.key) ?? "") ? "known" : "conflict";
  };
}

function isSameEvent({ body, isTimeGiven }: NewOutboxEvent, stored: string): boolean {
  return isTimeGiven ? body === stored : withoutTime(body) === withoutTime(stored);
}

function withoutTime(body: string): string {
  return JSON.stringify({ ...(JSON.parse(body) as object), occurredAt: undefined });
}

/** Records that come with a settlement; one whose key stands for another event undoes the settlement. */
export function prepareRecordAll(db: Database) {
  const recordOne = prepareRecordOne(db);
  return (events: readonly NewOutboxEvent[] | undefined, now: number): void => {
    for (const event of events ?? []) {
      if (recordOne(event, now) !== "conflict") continue;
      throw new PigeonholeError(
        "key_conflict",
        `The idempotency key ${event.key} already stands for another contact event. Give each record of a handler a key of its own.`,
      );
    }
  };
}

export function prepareRecord(db: Database) {
  const recordOne = prepareRecordOne(db);
  return ({ events, now }: { events: readonly NewOutboxEvent[]; now: number }): RecordResult[] =>
    events.map((event) => recordOne(event, now));
}
