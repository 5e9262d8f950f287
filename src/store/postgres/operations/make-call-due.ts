import type { Sql } from "../sql.js";

/** In one statement: a call that is leased meanwhile is left, as its condition is looked at again under the lock. */
const MAKE_DUE = `
  WITH waiting AS MATERIALIZED (
    SELECT send FROM pigeonhole.outbox_send
    WHERE state = 'pending' AND due_at > :now AND send <= (
      SELECT max(s.send) FROM pigeonhole.outbox_send AS s
      JOIN pigeonhole.outbox_event AS e ON e.send = s.send
      WHERE s.state <> 'dead' AND s.state = 'pending' AND e.state = 'leased' AND e.key = :key)
    ORDER BY send FOR UPDATE
  ), due AS (
    UPDATE pigeonhole.outbox_send AS s SET due_at = :now, waits_since = NULL
    FROM waiting WHERE s.send = waiting.send RETURNING s.send
  )
  SELECT count(*) AS events FROM due JOIN pigeonhole.outbox_event AS e ON e.send = due.send`;

/**
 * Makes the call of an event, by key, due that waits for its next try, and those before it: calls go out in their
 * order. Attempts, members and keys stay. Returns the number of events that go out now, with those of the calls that
 * were discarded; 0 when nothing waits, or the call is under way.
 */
export async function makeCallDue(sql: Sql, key: string, now: number): Promise<number> {
  const due = await sql.row<{ events: number }>(MAKE_DUE, { key, now });
  return due?.events ?? 0;
}
