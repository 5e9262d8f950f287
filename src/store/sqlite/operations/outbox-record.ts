import type { Database } from "better-sqlite3";
import type { NewOutboxEvent, ComparableOutboxEvent, RecordResult } from "../../outbox.js";
import { isSameContactEvent } from "../../same-contact-event.js";
import type { TraceContext } from "../../trace-context.js";
import { prepareLater } from "../on-first-use.js";

/** What a settlement of work that is done has for the outbox. */
interface RecordedByHandler {
  records?: readonly NewOutboxEvent[] | undefined;
  /** Of the inbox event. */
  seq: number;
  at: number;
}

/** Records the contact events of a handler: they come with the end of its work, which is done once. */
export function prepareRecordOfHandler(db: Database) {
  const insert = prepareLater(db)<[string, string, number, number, number, TraceContext | null]>(`
    INSERT INTO outbox_event (key, body, occurred_at, recorded_at, inbox_seq, trace, by_handler, state)
    VALUES (?, ?, ?, ?, ?, ?, 1, 'pending')`);
  return ({ records, seq, at }: RecordedByHandler): void => {
    if (records === undefined) return;
    for (const { key, body, occurredAt, trace } of records) insert().run(key, body, occurredAt, at, seq, trace ?? null);
  };
}

/** Records contact events from outside of handlers, once per key. */
export function prepareRecord(db: Database) {
  const insert = db.prepare<[string, string, number, number, TraceContext | null]>(`
    INSERT INTO outbox_event (key, body, occurred_at, recorded_at, trace, by_handler, state)
    VALUES (?, ?, ?, ?, ?, 0, 'pending')
    ON CONFLICT (key) WHERE NOT by_handler DO NOTHING`);
  const selectBody = db
    .prepare<[string], string>("SELECT body FROM outbox_event WHERE key = ? AND NOT by_handler")
    .pluck();

  function recordOne(event: ComparableOutboxEvent, now: number): RecordResult {
    const { key, body, occurredAt, trace } = event;
    if (insert.run(key, body, occurredAt, now, trace ?? null).changes === 1) return "recorded";
    return isSameContactEvent(event, selectBody.get(key) ?? "") ? "known" : "conflict";
  }

  return ({ events, now }: { events: readonly ComparableOutboxEvent[]; now: number }): RecordResult[] =>
    events.map((event) => recordOne(event, now));
}
