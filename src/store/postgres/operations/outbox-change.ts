import { discardContactEvent, reviveContactEvent } from "../../queries/contact-events.js";
import type { OutboxCounts, OutboxState } from "../../outbox.js";
import { runOnServer } from "../run-on-server.js";
import type { Sql } from "../sql.js";
import { SERVER_WORDS } from "../words.js";
import { makeCallDue } from "./make-call-due.js";

/** As {@link reviveContactEvent}, by key; when no dead event has it, as {@link makeCallDue}. */
export async function retryOutbox(sql: Sql, key: string, now: number): Promise<number> {
  const event = await sql.row<{ seq: number }>(
    "SELECT seq FROM pigeonhole.outbox_event WHERE key = :key AND state = 'dead' ORDER BY seq LIMIT 1",
    { key },
  );
  return event === undefined
    ? makeCallDue(sql, key, now)
    : runOnServer(sql, reviveContactEvent(SERVER_WORDS, { ...event, now }));
}

/** Ends an event that is not being sent, by key. */
export async function discardOutbox(sql: Sql, key: string, now: number): Promise<boolean> {
  const event = await sql.row<{ seq: number; send: number | null }>(
    `SELECT seq, send FROM pigeonhole.outbox_event WHERE key = :key AND state IN ('dead', 'pending')
       ORDER BY state, seq LIMIT 1 FOR UPDATE`,
    { key },
  );
  if (event === undefined) return false;
  await runOnServer(sql, discardContactEvent({ ...event, now }));
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
