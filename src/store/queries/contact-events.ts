import { isoTime } from "../../base/iso-time.js";
import { CONTACT_EVENT_FILTERS, chosenOf, conditionsOn } from "../filters.js";
import { pageLimit } from "../inbox-view.js";
import { cursorsOf, checkState, readSeqCursor } from "../list-windows.js";
import {
  type ContactEventChoice,
  type OutboxCounts,
  type OutboxPage,
  type OutboxQuery,
  type OutboxView,
} from "../outbox.js";
import { CONTACT_EVENT_STATES, type ContactEventState } from "../state-words.js";
import { type StoreQuery, readFirst, readRows } from "./store-query.js";

interface Row extends Omit<OutboxView, "name" | "contact" | "recordedAt" | "occurredAt" | "settledAt" | "dueAt"> {
  recordedAt: number;
  occurredAt: number;
  settledAt: number | null;
  dueAt: number | null;
}

function viewOf({ recordedAt, occurredAt, settledAt, dueAt, ...row }: Row): OutboxView {
  const { name = "", email, contactId } = JSON.parse(row.body) as { name?: string; email?: string; contactId?: string };
  return {
    ...row,
    name,
    contact: email ?? contactId ?? "",
    recordedAt: isoTime(recordedAt),
    occurredAt: isoTime(occurredAt),
    settledAt: isoTime(settledAt),
    dueAt: isoTime(dueAt),
  };
}

/** On rows of `outbox_event`. */
const CONDITIONS = conditionsOn("contact_event", CONTACT_EVENT_FILTERS);

const STATE = `CASE e.state WHEN 'leased' THEN CASE WHEN s.due_at IS NULL THEN 'running' ELSE 'retrying' END
    WHEN 'done' THEN CASE WHEN e.remote_id IS NULL THEN 'discarded' ELSE 'done' END ELSE e.state END`;

/** The newest events that fit, each with the call that it is part of. */
const selectViews = (filter: string): string => `
  SELECT e.seq, e.key, ${STATE} AS state, e.body, e.recorded_at AS "recordedAt", e.occurred_at AS "occurredAt",
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
  return row === undefined ? undefined : viewOf(row);
}

/** Found through the open calls, which are few; a query by state alone would read all rows. */
const ofCalls = (state: "pending" | "leased"): string =>
  `send IN (SELECT send FROM pigeonhole.outbox_send WHERE state <> 'dead' AND state = '${state}') AND state = 'leased'`;

/** When a row is in a state. */
const IS: Readonly<Record<ContactEventState, string>> = {
  pending: "state = 'pending'",
  running: ofCalls("leased"),
  retrying: ofCalls("pending"),
  done: "state = 'done' AND remote_id IS NOT NULL",
  discarded: "state = 'done' AND remote_id IS NULL",
  dead: "state = 'dead'",
};

/** Contact events, newest first, each with the call that it is part of. */
export function* selectContactEvents(query: OutboxQuery): StoreQuery<OutboxPage> {
  const limit = pageLimit.read("limit", query.limit);
  const { state, ...choice } = query;
  if (state !== undefined) checkState(state, CONTACT_EVENT_STATES);
  const conditions = [...(state === undefined ? [] : [IS[state]]), "seq < :before", ...chosenOf(CONDITIONS, choice)];
  const rows = yield* readRows<Row>(selectViews(conditions.join(" AND ")), {
    ...query,
    before: readSeqCursor(query.cursor),
    most: limit + 1,
  });
  const { nextCursor } = cursorsOf(rows, limit, 0);
  return { items: rows.slice(0, limit).map(viewOf), nextCursor };
}

/** A dead contact event, and the call that it is part of. */
export interface DeadContactEvent {
  seq: number;
  send: number | null;
}

const whereDead = (choice: ContactEventChoice): string =>
  ["state = 'dead'", ...chosenOf(CONDITIONS, choice)].join(" AND ");

/** The dead contact events among the chosen ones, a page from `after` on, oldest first. */
export function selectDeadContactEvents(
  choice: ContactEventChoice,
  { after, limit }: { after: number; limit: number },
): StoreQuery<DeadContactEvent[]> {
  return readRows(
    `SELECT seq, send FROM pigeonhole.outbox_event WHERE ${whereDead(choice)} AND seq > :after ORDER BY seq
     LIMIT :limit`,
    { ...choice, after, limit },
  );
}

/** Counts the dead contact events among the chosen ones. */
export function* countDeadContactEvents(choice: ContactEventChoice): StoreQuery<number> {
  const counted = yield* readFirst<{ events: number }>(
    `SELECT count(*) AS events FROM pigeonhole.outbox_event WHERE ${whereDead(choice)}`,
    choice,
  );
  return counted?.events ?? 0;
}

const COUNTED = ["pending", "running", "retrying", "dead"] as const;

/** Counts the events that are not sent yet, and those that are dead. */
export function* countContactEvents(): StoreQuery<OutboxCounts> {
  const of = (state: ContactEventState): string =>
    `SELECT '${state}' AS state, count(*) AS events, ${state === "dead" ? "NULL" : "min(recorded_at)"} AS oldest
     FROM pigeonhole.outbox_event WHERE ${IS[state]}`;
  const rows = yield* readRows<{ state: (typeof COUNTED)[number]; events: number; oldest: number | null }>(
    COUNTED.map(of).join(" UNION ALL "),
  );
  const counts = { pending: 0, running: 0, retrying: 0, dead: 0 };
  for (const { state, events } of rows) counts[state] += events;
  const oldest = rows.flatMap((row) => row.oldest ?? []);
  return { ...counts, oldestRecordedAt: isoTime(oldest.length === 0 ? null : Math.min(...oldest)) };
}
