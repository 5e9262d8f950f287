import type { ContactEventAction } from "../inbox-operator.js";
import type { DeadContactEvent } from "./contact-events.js";
import { type StoreQuery, readFirst, readRows, run } from "./store-query.js";
import type { ComparableOutboxEvent, NewOutboxEvent, RecordResult } from "../outbox.js";
import { isSameContactEvent, nameOfContactEvent } from "../same-contact-event.js";

/**
 * Makes a dead event pending; if its outcome is unknown, its whole call, which is repeated unchanged. Returns the
 * number of events that go out again, with those of the call that were discarded.
 */
export function* reviveContactEvent({ seq, now }: { seq: number; now: number }): StoreQuery<number> {
  const event = yield* readFirst<{ send: number | null }>(
    "SELECT send FROM pigeonhole.outbox_event WHERE seq = :seq AND state = 'dead' FOR UPDATE",
    { seq },
  );
  if (event === undefined) return 0;
  const { send } = event;
  const reset = "settled_at = NULL, reason = NULL, code = NULL, param = NULL, message = NULL";
  if (send === null) {
    return yield* run(`UPDATE pigeonhole.outbox_event SET state = 'pending', attempts = 0, ${reset} WHERE seq = :seq`, {
      seq,
    });
  }
  yield* run("UPDATE pigeonhole.outbox_send SET state = 'pending', due_at = :now WHERE send = :send", { send, now });
  yield* run(`UPDATE pigeonhole.outbox_event SET state = 'leased', ${reset} WHERE send = :send AND state = 'dead'`, {
    send,
  });
  return yield* countMembers([send]);
}

/** Ends an event that is still dead; returns how many, 0 or 1. */
export function discardDeadContactEvent(event: { seq: number; now: number }): StoreQuery<number> {
  return discardFirst("seq = :seq AND state = 'dead'", event);
}

function* discardFirst(where: string, of: { now: number }): StoreQuery<number> {
  const found = yield* readFirst<DeadContactEvent>(
    `SELECT seq, send FROM pigeonhole.outbox_event WHERE ${where} ORDER BY seq LIMIT 1 FOR UPDATE`,
    of,
  );
  if (found === undefined) return 0;
  yield* discardContactEvent({ ...found, now: of.now });
  return 1;
}

/**
 * Ends an event that waits or is dead. The key stays, so that a rerun does not record it again; so does its place in a
 * call whose outcome is unknown, because that call may only be repeated unchanged.
 */
export function* discardContactEvent({ seq, send, now }: DeadContactEvent & { now: number }): StoreQuery<void> {
  yield* run(
    `UPDATE pigeonhole.outbox_event SET state = 'done', settled_at = :now, reason = NULL, code = NULL, param = NULL,
       message = 'discarded' WHERE seq = :seq`,
    { seq, now },
  );
  if (send === null) return;
  const call = yield* readFirst<{ started: number }>(
    `DELETE FROM pigeonhole.outbox_send AS s WHERE send = :send
       AND NOT EXISTS (SELECT 1 FROM pigeonhole.outbox_event AS e WHERE e.send = s.send AND e.state = 'dead')
     RETURNING started`,
    { send },
  );
  if (call === undefined) return;
  // No dead event is left whose retry would repeat the call.
  yield* run(
    `UPDATE pigeonhole.outbox_event SET send = NULL, position = NULL, attempts = attempts + :started
     WHERE send = :send`,
    { send, started: call.started },
  );
}

/** Changes an event by its key; returns how many were changed. */
export function changeContactEvent(
  action: ContactEventAction,
  event: { key: string; now: number },
): StoreQuery<number> {
  return action === "retry" ? retryByKey(event) : discardByKey(event);
}

/** As {@link reviveContactEvent}, by key; when no dead event has it, as {@link makeCallDue}. */
function* retryByKey({ key, now }: { key: string; now: number }): StoreQuery<number> {
  const dead = yield* readFirst<{ seq: number }>(
    "SELECT seq FROM pigeonhole.outbox_event WHERE key = :key AND state = 'dead' ORDER BY seq LIMIT 1",
    { key },
  );
  return dead === undefined ? yield* makeCallDue({ key, now }) : yield* reviveContactEvent({ seq: dead.seq, now });
}

/** Ends an event that is not being sent, by key. */
function* discardByKey(event: { key: string; now: number }): StoreQuery<number> {
  const dead = yield* discardFirst("key = :key AND state = 'dead'", event);
  return dead === 1 ? dead : yield* discardFirst("key = :key AND state = 'pending'", event);
}

/** Calls that wait for their next try, which are few. The index has those that are not dead. */
const WAITS_FOR_TRY = "s.state <> 'dead' AND s.state = 'pending'";

/**
 * Makes the call of an event, by key, due that waits for its next try, and those before it: calls go out in their
 * order. Attempts, members and keys stay. Returns the number of events that go out now, with those of the calls that
 * were discarded; 0 when nothing waits, or the call is under way.
 */
function* makeCallDue(event: { key: string; now: number }): StoreQuery<number> {
  const waiting = yield* readRows<{ send: number }>(
    `SELECT s.send FROM pigeonhole.outbox_send AS s WHERE ${WAITS_FOR_TRY} AND s.due_at > :now AND s.send <= (
       SELECT max(s.send) FROM pigeonhole.outbox_send AS s
       JOIN pigeonhole.outbox_event AS e ON e.send = s.send AND e.key = :key AND e.state = 'leased'
       WHERE ${WAITS_FOR_TRY})
     ORDER BY s.send FOR UPDATE`,
    event,
  );
  const sends = waiting.map(({ send }) => send);
  yield* run("UPDATE pigeonhole.outbox_send SET due_at = :now, waits_since = NULL WHERE send = ANY(:sends)", {
    sends,
    now: event.now,
  });
  return yield* countMembers(sends);
}

function* countMembers(sends: readonly number[]): StoreQuery<number> {
  const members = "SELECT count(*) AS events FROM pigeonhole.outbox_event WHERE send = ANY(:sends)";
  return (yield* readFirst<{ events: number }>(members, { sends }))?.events ?? 0;
}

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
