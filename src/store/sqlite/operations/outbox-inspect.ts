import type { Database } from "better-sqlite3";
import type { OutboxCounts, OutboxPage, OutboxQuery, OutboxState, OutboxView } from "../../outbox.js";
import { OUTBOX_STATES } from "../../outbox.js";
import { pageLimit } from "../../inbox-view.js";
import { chosenContactEvents } from "./chosen-contact-events.js";
import { prepareCountMembers, prepareMakeCallDue } from "./make-call-due.js";
import { type Nullable, checkState, readSeqCursor, seqCursor, withoutNulls } from "../../check-query.js";

/** The columns that every row has. */
type Given = "seq" | "key" | "state" | "body" | "recordedAt" | "occurredAt" | "attempts";

type Row = Pick<OutboxView, Given> & Nullable<Omit<OutboxView, Given>>;

/** Events that no call has taken yet. Events that were sent before cost nothing here. */
const IS_NEW = "seq > (SELECT value FROM counter WHERE name = 'outbox_taken') AND state = 'pending'";

/** Found through the open calls, which are few; a query by state alone would read all rows. */
const IS_LEASED = "send IN (SELECT send FROM outbox_send WHERE state <> 'dead') AND state = 'leased'";

/**
 * The rows in each state that fit all `conditions`. Events that came back from a call are pending, as new ones are: the
 * newest of both are read, so that the cost does not exceed one page.
 */
const FILTERS: Record<OutboxState, (conditions: string) => string> = {
  pending: (conditions) => `seq IN (
    SELECT seq FROM outbox_event WHERE state = 'again' AND ${conditions}
    UNION ALL SELECT seq FROM outbox_event WHERE ${IS_NEW} AND ${conditions}
    ORDER BY seq DESC LIMIT :most)`,
  leased: (conditions) => `seq IN (SELECT seq FROM outbox_event WHERE ${IS_LEASED}) AND ${conditions}`,
  done: (conditions) => `state = 'done' AND ${conditions}`,
  dead: (conditions) => `state = 'dead' AND ${conditions}`,
};

function filterOf({ state, ...choice }: OutboxQuery): string {
  const conditions = ["seq < :before", ...chosenContactEvents(choice)].join(" AND ");
  if (state === undefined) return conditions;
  checkState(state, OUTBOX_STATES);
  return FILTERS[state](conditions);
}

/** The newest events that fit, each with the call that it is part of. */
const selectViews = (filter: string): string => `
  SELECT e.seq, e.key, iif(e.state = 'again', 'pending', e.state) AS state, e.body, e.recorded_at AS recordedAt,
    e.occurred_at AS occurredAt, e.settled_at AS settledAt, e.attempts + coalesce(s.started, 0) AS attempts,
    iif(e.state = 'leased', s.error, NULL) AS error, iif(e.state = 'leased', s.due_at, NULL) AS dueAt,
    e.remote_id AS remoteId, e.reason, e.code, e.param, e.message, i.id AS inboxEventId,
    iif(e.state IN ('dead', 'done'), e.send, NULL) AS call,
    CASE WHEN e.state IN ('dead', 'done') AND e.send IS NOT NULL THEN
      (SELECT count(*) FROM outbox_event AS m WHERE m.send = e.send) END AS callEvents
  FROM (SELECT * FROM outbox_event WHERE ${filter} ORDER BY seq DESC LIMIT :most) AS e
  LEFT JOIN outbox_send AS s ON s.send = e.send
  LEFT JOIN inbox_event AS i ON i.seq = e.inbox_seq ORDER BY e.seq DESC`;

/** Reads a contact event by key, which no index has for all of them: for an operator, outside the receiver. */
export function prepareGetContactEvent(db: Database) {
  const select = db.prepare<{ key: string; most: number }, Row>(selectViews("key = :key"));
  return ({ key }: { key: string }): OutboxView | undefined => {
    const row = select.get({ key, most: 1 });
    return row === undefined ? undefined : withoutNulls<OutboxView>(row);
  };
}

/** Reads contact events, newest first. */
export function prepareListOutbox(db: Database) {
  return (query: OutboxQuery): OutboxPage => {
    const limit = pageLimit.read("limit", query.limit);
    const rows = db
      .prepare<object, Row>(selectViews(filterOf(query)))
      .all({ ...query, before: readSeqCursor(query.cursor), most: limit + 1 });
    const page = rows.slice(0, limit);
    return {
      items: page.map((row) => withoutNulls<OutboxView>(row)),
      nextCursor: rows.length > limit ? page.map(seqCursor).at(-1) : undefined,
    };
  };
}

/**
 * Makes a dead event pending; if its outcome is unknown, its whole call, which is repeated unchanged. Returns the
 * number of events that go out again, with those of the call that were discarded.
 */
export function prepareReviveContactEvent(db: Database) {
  const select = db.prepare<{ seq: number }, { send: number | null }>(
    "SELECT send FROM outbox_event WHERE seq = :seq AND state = 'dead'",
  );
  const reviveOne = db.prepare(`
    UPDATE outbox_event
    SET state = 'again', settled_at = NULL, attempts = 0, reason = NULL, code = NULL, param = NULL, message = NULL
    WHERE seq = :seq`);
  const reviveMembers = db.prepare(`
    UPDATE outbox_event
    SET state = 'leased', settled_at = NULL, reason = NULL, code = NULL, param = NULL, message = NULL
    WHERE send = :send AND state = 'dead'`);
  const countMembers = prepareCountMembers(db);
  const reviveSend = db.prepare("UPDATE outbox_send SET state = 'pending', due_at = :now WHERE send = :send");

  return ({ seq, now }: { seq: number; now: number }): number => {
    const event = select.get({ seq });
    if (event === undefined) return 0;
    if (event.send === null) return reviveOne.run({ seq }).changes;
    reviveSend.run({ send: event.send, now });
    reviveMembers.run({ send: event.send });
    return countMembers(event.send);
  };
}

/** As {@link prepareReviveContactEvent}, by key; when no dead event has it, as {@link prepareMakeCallDue}. */
export function prepareRetryOutbox(db: Database) {
  const select = db
    .prepare<{ key: string }, number>("SELECT seq FROM outbox_event WHERE key = :key AND state = 'dead'")
    .pluck();
  const revive = prepareReviveContactEvent(db);
  const makeCallDue = prepareMakeCallDue(db);
  return ({ key, now }: { key: string; now: number }): number => {
    const seq = select.get({ key });
    return seq === undefined ? makeCallDue({ key, now }) : revive({ seq, now });
  };
}

/** Ends an event that is not being sent, by key. */
export function prepareDiscardOutbox(db: Database) {
  const select = db.prepare<{ key: string }, { seq: number; send: number | null }>(`
    SELECT seq, send FROM outbox_event WHERE key = :key AND state = 'dead'
    UNION ALL SELECT seq, send FROM outbox_event WHERE key = :key AND state = 'again'
    UNION ALL SELECT seq, send FROM outbox_event WHERE key = :key AND ${IS_NEW}
    LIMIT 1`);
  const discard = prepareDiscardContactEvent(db);
  return ({ key, now }: { key: string; now: number }): boolean => {
    const event = select.get({ key });
    if (event === undefined) return false;
    discard({ ...event, now });
    return true;
  };
}

/** Ends an event that is still dead; returns how many, 0 or 1. */
export function prepareDiscardDeadContactEvent(db: Database) {
  const select = db.prepare<{ seq: number }, { seq: number; send: number | null }>(
    "SELECT seq, send FROM outbox_event WHERE seq = :seq AND state = 'dead'",
  );
  const discard = prepareDiscardContactEvent(db);
  return ({ seq, now }: { seq: number; now: number }): number => {
    const event = select.get({ seq });
    if (event === undefined) return 0;
    discard({ ...event, now });
    return 1;
  };
}

/**
 * Ends an event that waits or is dead. The key stays, so that a rerun does not record it again; so does its place in a
 * call whose outcome is unknown, because that call may only be repeated unchanged.
 */
export function prepareDiscardContactEvent(db: Database) {
  const discard = db.prepare(`
    UPDATE outbox_event SET state = 'done', settled_at = :now, reason = NULL, message = 'discarded' WHERE seq = :seq`);
  const removeSend = db
    .prepare<{ send: number }, number>(`
    DELETE FROM outbox_send WHERE send = :send
      AND NOT EXISTS (SELECT 1 FROM outbox_event AS e WHERE e.send = :send AND e.state = 'dead')
    RETURNING started`)
    .pluck();
  const freeMembers = db.prepare(`
    UPDATE outbox_event SET send = NULL, position = NULL, attempts = attempts + :started WHERE send = :send`);

  return ({ seq, send, now }: { seq: number; send: number | null; now: number }): void => {
    discard.run({ seq, now });
    if (send === null) return;
    const started = removeSend.get({ send });
    // No dead event is left whose retry would repeat the call.
    if (started !== undefined) freeMembers.run({ send, started });
  };
}

export function prepareCountOutbox(db: Database) {
  const count = db.prepare<[], { state: OutboxState; events: number; oldest: number | null }>(`
    SELECT 'pending' AS state, count(*) AS events, min(recorded_at) AS oldest FROM outbox_event WHERE ${IS_NEW}
    UNION ALL SELECT 'pending', count(*), min(recorded_at) FROM outbox_event WHERE state = 'again'
    UNION ALL SELECT 'leased', count(*), min(recorded_at) FROM outbox_event WHERE ${IS_LEASED}
    UNION ALL SELECT 'dead', count(*), NULL FROM outbox_event WHERE state = 'dead'`);
  return (): OutboxCounts => {
    const counts: OutboxCounts = { pending: 0, leased: 0, dead: 0, oldestRecordedAt: undefined };
    for (const { state, events, oldest } of count.all()) {
      if (state !== "done") counts[state] += events;
      if (oldest !== null) counts.oldestRecordedAt = Math.min(oldest, counts.oldestRecordedAt ?? oldest);
    }
    return counts;
  };
}
