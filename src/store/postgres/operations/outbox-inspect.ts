import { type Nullable, checkState, readSeqCursor, seqCursor, withoutNulls } from "../../check-query.js";
import { pageLimit } from "../../inbox-view.js";
import {
  type ContactEventChoice,
  OUTBOX_STATES,
  type OutboxCounts,
  type OutboxPage,
  type OutboxQuery,
  type OutboxState,
  type OutboxView,
} from "../../outbox.js";
import type { Sql } from "../sql.js";
import { discardContactEvent } from "./discard-contact-event.js";
import { makeCallDue } from "./make-call-due.js";

/** The columns that every row has. */
type Given = "seq" | "key" | "state" | "body" | "recordedAt" | "occurredAt" | "attempts";

type Row = Pick<OutboxView, Given> & Nullable<Omit<OutboxView, Given>>;

const CONDITIONS: Record<keyof ContactEventChoice | "state", string> = {
  state: "state = :state",
  name: "name = :name",
  error: `(position(lower(:error) IN lower(concat_ws(' ', reason, code, param, message))) > 0
    OR send IN (SELECT send FROM pigeonhole.outbox_send WHERE position(lower(:error) IN lower(error)) > 0))`,
  since: "recorded_at >= :since",
  until: "recorded_at < :until",
  inboxEventId: "inbox_seq = (SELECT seq FROM pigeonhole.inbox_event WHERE id = :inboxEventId)",
};

/** Conditions on rows of `outbox_event`, whose parameters have the names of the fields. */
export function contactEventConditionsOf(choice: ContactEventChoice & { state?: OutboxState | undefined }): string[] {
  return Object.entries(CONDITIONS)
    .filter(([field]) => choice[field as keyof typeof choice] !== undefined)
    .map(([, condition]) => condition);
}

/** The newest events that fit, each with the call that it is part of. */
const selectViews = (conditions: string): string => `
  SELECT e.seq, e.key, e.state, e.body, e.recorded_at AS "recordedAt", e.occurred_at AS "occurredAt",
    e.settled_at AS "settledAt", e.attempts + coalesce(s.started, 0) AS attempts,
    CASE e.state WHEN 'leased' THEN s.error END AS error, CASE e.state WHEN 'leased' THEN s.due_at END AS "dueAt",
    e.remote_id AS "remoteId", e.reason, e.code, e.param, e.message, i.id AS "inboxEventId",
    CASE WHEN e.state IN ('dead', 'done') THEN e.send END AS call,
    CASE WHEN e.state IN ('dead', 'done') AND e.send IS NOT NULL THEN
      (SELECT count(*) FROM pigeonhole.outbox_event AS m WHERE m.send = e.send) END AS "callEvents"
  FROM (SELECT * FROM pigeonhole.outbox_event WHERE ${conditions} ORDER BY seq DESC LIMIT :most) AS e
  LEFT JOIN pigeonhole.outbox_send AS s ON s.send = e.send
  LEFT JOIN pigeonhole.inbox_event AS i ON i.seq = e.inbox_seq ORDER BY e.seq DESC`;

/** The newest contact event with the key, which no index has for all of them: for a person, outside the receiver. */
export async function getContactEvent(sql: Sql, key: string): Promise<OutboxView | undefined> {
  const row = await sql.row<Row>(selectViews("key = :key"), { key, most: 1 });
  return row === undefined ? undefined : withoutNulls<OutboxView>(row);
}

/** Contact events, newest first, each with the call that it is part of. */
export async function listOutbox(sql: Sql, query: OutboxQuery): Promise<OutboxPage> {
  const limit = pageLimit.read("limit", query.limit);
  if (query.state !== undefined) checkState(query.state, OUTBOX_STATES);
  const conditions = ["seq < :before", ...contactEventConditionsOf(query)].join(" AND ");
  const rows = await sql.rows<Row>(selectViews(conditions), {
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

/** As {@link reviveContactEvent}, by key; when no dead event has it, as {@link makeCallDue}. */
export async function retryOutbox(sql: Sql, key: string, now: number): Promise<number> {
  const event = await sql.row<{ seq: number }>(
    "SELECT seq FROM pigeonhole.outbox_event WHERE key = :key AND state = 'dead' ORDER BY seq LIMIT 1",
    { key },
  );
  return event === undefined ? makeCallDue(sql, key, now) : reviveContactEvent(sql, { ...event, now });
}

/**
 * Makes a dead event pending; if its outcome is unknown, its whole call, which is repeated unchanged. Returns the
 * number of events that go out again, with those of the call that were discarded. In one transaction.
 */
export async function reviveContactEvent(sql: Sql, { seq, now }: { seq: number; now: number }): Promise<number> {
  const event = await sql.row<{ send: number | null }>(
    "SELECT send FROM pigeonhole.outbox_event WHERE seq = :seq AND state = 'dead' FOR UPDATE",
    { seq },
  );
  if (event === undefined) return 0;
  const reset = "settled_at = NULL, reason = NULL, code = NULL, param = NULL, message = NULL";
  if (event.send === null) {
    return sql.run(`UPDATE pigeonhole.outbox_event SET state = 'pending', attempts = 0, ${reset} WHERE seq = :seq`, {
      seq,
    });
  }
  const call = { send: event.send, now };
  await sql.run("UPDATE pigeonhole.outbox_send SET state = 'pending', due_at = :now WHERE send = :send", call);
  await sql.run(
    `UPDATE pigeonhole.outbox_event SET state = 'leased', ${reset} WHERE send = :send AND state = 'dead'`,
    call,
  );
  const members = await sql.row<{ events: number }>(
    "SELECT count(*) AS events FROM pigeonhole.outbox_event WHERE send = :send",
    call,
  );
  return members?.events ?? 0;
}

/** Ends an event that is not being sent, by key. */
export async function discardOutbox(sql: Sql, key: string, now: number): Promise<boolean> {
  const event = await sql.row<{ seq: number; send: number | null }>(
    `SELECT seq, send FROM pigeonhole.outbox_event WHERE key = :key AND state IN ('dead', 'pending')
       ORDER BY state, seq LIMIT 1 FOR UPDATE`,
    { key },
  );
  if (event === undefined) return false;
  await discardContactEvent(sql, { ...event, now });
  return true;
}

/** Counts the events that are not sent yet, and those that are dead. */
export async function countOutbox(sql: Sql): Promise<OutboxCounts> {
  const rows = await sql.rows<{ state: Exclude<OutboxState, "done">; events: number; oldest: number | null }>(`
    SELECT 'pending' AS state, count(*) AS events, min(recorded_at) AS oldest
    FROM pigeonhole.outbox_event WHERE state = 'pending'
    UNION ALL
    SELECT 'leased', count(*), min(e.recorded_at) FROM pigeonhole.outbox_send AS s
    JOIN pigeonhole.outbox_event AS e ON e.send = s.send WHERE s.state <> 'dead' AND e.state = 'leased'
    UNION ALL
    SELECT 'dead', count(*), NULL FROM pigeonhole.outbox_event WHERE state = 'dead'`);
  const counts: OutboxCounts = { pending: 0, leased: 0, dead: 0, oldestRecordedAt: undefined };
  for (const { state, events, oldest } of rows) {
    counts[state] += events;
    if (oldest !== null) counts.oldestRecordedAt = Math.min(oldest, counts.oldestRecordedAt ?? oldest);
  }
  return counts;
}
