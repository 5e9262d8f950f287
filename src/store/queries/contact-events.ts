import { type Nullable, checkState, readSeqCursor, seqCursor, withoutNulls } from "../check-query.js";
import { pageLimit } from "../inbox-view.js";
import {
  type ContactEventChoice,
  OUTBOX_STATES,
  type OutboxPage,
  type OutboxQuery,
  type OutboxState,
  type OutboxView,
} from "../outbox.js";
import { type StoreQuery, readFirst, readRows, run } from "./store-query.js";

/** What differs between the outboxes of the stores. */
export interface OutboxWords {
  /** Finds the rows of a state that fit conditions; takes `:before` and `:most`. */
  inState: Record<OutboxState, (conditions: string) => string>;
  /** The name of a contact event. */
  name: string;
  /** The state of an event that goes out in a new call, after it was part of another one. */
  again: string;
}

/** The columns that every row has. */
type Given = "seq" | "key" | "state" | "body" | "recordedAt" | "occurredAt" | "attempts";

type Row = Pick<OutboxView, Given> & Nullable<Omit<OutboxView, Given>>;

const CONDITIONS: Record<Exclude<keyof ContactEventChoice, "name">, string> = {
  error: `(strpos(lower(concat_ws(' ', reason, code, param, message)), lower(:error)) > 0
    OR send IN (SELECT send FROM pigeonhole.outbox_send WHERE strpos(lower(error), lower(:error)) > 0))`,
  since: "recorded_at >= :since",
  until: "recorded_at < :until",
  inboxEventId: "inbox_seq = (SELECT seq FROM pigeonhole.inbox_event WHERE id = :inboxEventId)",
};

/** Conditions on rows of `outbox_event`, whose parameters have the names of the fields. */
function chosen(words: OutboxWords, choice: ContactEventChoice): string[] {
  return Object.entries({ ...CONDITIONS, name: `${words.name} = :name` })
    .filter(([field]) => choice[field as keyof typeof choice] !== undefined)
    .map(([, condition]) => condition);
}

/** The newest events that fit, each with the call that it is part of. */
const selectViews = (filter: string): string => `
  SELECT e.seq, e.key, CASE e.state WHEN 'again' THEN 'pending' ELSE e.state END AS state, e.body,
    e.recorded_at AS "recordedAt", e.occurred_at AS "occurredAt",
    e.settled_at AS "settledAt", e.attempts + coalesce(s.started, 0) AS attempts,
    CASE e.state WHEN 'leased' THEN s.error END AS error, CASE e.state WHEN 'leased' THEN s.due_at END AS "dueAt",
    e.remote_id AS "remoteId", e.reason, e.code, e.param, e.message, i.id AS "inboxEventId",
    CASE WHEN e.state IN ('dead', 'done') THEN e.send END AS call,
    CASE WHEN e.state IN ('dead', 'done') AND e.send IS NOT NULL THEN
      (SELECT count(*) FROM pigeonhole.outbox_event AS m WHERE m.send = e.send) END AS "callEvents"
  FROM (SELECT * FROM pigeonhole.outbox_event WHERE ${filter} ORDER BY seq DESC LIMIT :most) AS e
  LEFT JOIN pigeonhole.outbox_send AS s ON s.send = e.send
  LEFT JOIN pigeonhole.inbox_event AS i ON i.seq = e.inbox_seq ORDER BY e.seq DESC`;

/** The newest contact event with the key, which no index has for all of them: for a person, outside the receiver. */
export function* getContactEvent(key: string): StoreQuery<OutboxView | undefined> {
  const row = yield* readFirst<Row>(selectViews("key = :key"), { key, most: 1 });
  return row === undefined ? undefined : withoutNulls<OutboxView>(row);
}

/** Contact events, newest first, each with the call that it is part of. */
export function* selectContactEvents(words: OutboxWords, query: OutboxQuery): StoreQuery<OutboxPage> {
  const limit = pageLimit.read("limit", query.limit);
  const { state, ...choice } = query;
  if (state !== undefined) checkState(state, OUTBOX_STATES);
  const conditions = ["seq < :before", ...chosen(words, choice)].join(" AND ");
  const filter = state === undefined ? conditions : words.inState[state](conditions);
  const rows = yield* readRows<Row>(selectViews(filter), {
    ...query,
    before: readSeqCursor(query.cursor),
    most: limit + 1,
  });
  const page = rows.slice(0, limit);
  return {
    items: page.map((row) => withoutNulls<OutboxView>(row)),
    nextCursor: rows.length > limit ? page.map(seqCursor).at(-1) : undefined,
  };
}

/** A dead contact event, and the call that it is part of. */
export interface DeadContactEvent {
  seq: number;
  send: number | null;
}

const whereDead = (words: OutboxWords, choice: ContactEventChoice): string =>
  ["state = 'dead'", ...chosen(words, choice)].join(" AND ");

/** The dead contact events among the chosen ones, a page from `after` on, oldest first. */
export function selectDeadContactEvents(
  words: OutboxWords,
  { choice, after, limit }: { choice: ContactEventChoice; after: number; limit: number },
): StoreQuery<DeadContactEvent[]> {
  return readRows(
    `SELECT seq, send FROM pigeonhole.outbox_event WHERE ${whereDead(words, choice)} AND seq > :after ORDER BY seq
     LIMIT :limit`,
    { ...choice, after, limit },
  );
}

/** Counts the dead contact events among the chosen ones. */
export function* countDeadContactEvents(words: OutboxWords, choice: ContactEventChoice): StoreQuery<number> {
  const counted = yield* readFirst<{ events: number }>(
    `SELECT count(*) AS events FROM pigeonhole.outbox_event WHERE ${whereDead(words, choice)}`,
    choice,
  );
  return counted?.events ?? 0;
}

/**
 * Makes a dead event pending; if its outcome is unknown, its whole call, which is repeated unchanged. Returns the
 * number of events that go out again, with those of the call that were discarded.
 */
export function* reviveContactEvent({ again }: OutboxWords, of: { seq: number; now: number }): StoreQuery<number> {
  const { seq, now } = of;
  const event = yield* readFirst<{ send: number | null }>(
    "SELECT send FROM pigeonhole.outbox_event WHERE seq = :seq AND state = 'dead' FOR UPDATE",
    { seq },
  );
  if (event === undefined) return 0;
  const { send } = event;
  const reset = "settled_at = NULL, reason = NULL, code = NULL, param = NULL, message = NULL";
  if (send === null) {
    return yield* run(
      `UPDATE pigeonhole.outbox_event SET state = '${again}', attempts = 0, ${reset} WHERE seq = :seq`,
      { seq },
    );
  }
  yield* run("UPDATE pigeonhole.outbox_send SET state = 'pending', due_at = :now WHERE send = :send", { send, now });
  yield* run(`UPDATE pigeonhole.outbox_event SET state = 'leased', ${reset} WHERE send = :send AND state = 'dead'`, {
    send,
  });
  const members = "SELECT count(*) AS events FROM pigeonhole.outbox_event WHERE send = :send";
  return (yield* readFirst<{ events: number }>(members, { send }))?.events ?? 0;
}

/** Ends an event that is still dead; returns how many, 0 or 1. */
export function* discardDeadContactEvent(event: { seq: number; now: number }): StoreQuery<number> {
  const found = yield* readFirst<DeadContactEvent>(
    "SELECT seq, send FROM pigeonhole.outbox_event WHERE seq = :seq AND state = 'dead' FOR UPDATE",
    event,
  );
  if (found === undefined) return 0;
  yield* discardContactEvent({ ...found, now: event.now });
  return 1;
}

/**
 * Ends an event that waits or is dead. The key stays, so that a rerun does not record it again; so does its place in a
 * call whose outcome is unknown, because that call may only be repeated unchanged.
 */
export function* discardContactEvent({ seq, send, now }: DeadContactEvent & { now: number }): StoreQuery<void> {
  yield* run(
    `UPDATE pigeonhole.outbox_event SET state = 'done', settled_at = :now, reason = NULL, message = 'discarded'
     WHERE seq = :seq`,
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
