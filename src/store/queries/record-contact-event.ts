import type { ComparableOutboxEvent, NewOutboxEvent, RecordResult } from "../outbox.js";
import { isSameContactEvent, nameOfContactEvent } from "../same-contact-event.js";
import { type StoreQuery, readFirst, run } from "./store-query.js";

/** When an event is recorded, and the number of the inbox event whose handler recorded it; null outside of handlers. */
interface Recording {
  now: number;
  inboxSeq: number | null;
}

/** Stores a contact event. One from outside of handlers is stored once per key; returns how many were, 0 or 1. */
export function insertContactEvent(event: NewOutboxEvent, recording: Recording): StoreQuery<number> {
  const { key, body, occurredAt, trace = null } = event;
  return run(
    `INSERT INTO pigeonhole.outbox_event
       (key, name, body, occurred_at, recorded_at, inbox_seq, trace, by_handler, state)
     VALUES (:key, :name, :body, :occurredAt, :now, :inboxSeq::bigint, :trace, :inboxSeq::bigint IS NOT NULL, 'pending')
     ON CONFLICT (key) WHERE NOT by_handler DO NOTHING`,
    { key, name: nameOfContactEvent(body), body, occurredAt, trace, ...recording },
  );
}

/** Records a contact event from outside of handlers, once per key. */
export function* recordContactEvent(of: { event: ComparableOutboxEvent; now: number }): StoreQuery<RecordResult> {
  const { event, now } = of;
  if ((yield* insertContactEvent(event, { now, inboxSeq: null })) === 1) return "recorded";
  const known = yield* readFirst<{ body: string }>(
    "SELECT body FROM pigeonhole.outbox_event WHERE key = :key AND NOT by_handler",
    { key: event.key },
  );
  return known === undefined || isSameContactEvent(event, known.body) ? "known" : "conflict";
}
