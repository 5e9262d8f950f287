import { NO_HANDLER, NOTE_HANDLER } from "../../../base/note-handler.js";
import type { Sql } from "../sql.js";

const note = NOTE_HANDLER;

/** Asks a receiver to read an event again that was not understood: its note waits from now on. */
export async function requestRetry(sql: Sql, seq: number, now: number): Promise<boolean> {
  const found = await sql.run(
    `UPDATE pigeonhole.inbox_work AS w SET waits_since = coalesce(waits_since, :now)
     WHERE seq = :seq AND handler = :note AND state = 'parked'
       AND EXISTS (SELECT 1 FROM pigeonhole.inbox_body AS b WHERE b.seq = w.seq)`,
    { seq, note, now },
  );
  return found === 1;
}

/**
 * Asks a receiver to read an event again that no handler got, or whose note was discarded: it is parked until then.
 * Does nothing with an event that has no body.
 */
export async function requestReading(sql: Sql, seq: number, now: number): Promise<boolean> {
  await sql.run(
    `INSERT INTO pigeonhole.inbox_work AS w (seq, handler, state, settled_at, started, finished, reason)
     SELECT seq, :note, 'parked', :now, 0, 0, :reason FROM pigeonhole.inbox_body WHERE seq = :seq
     ON CONFLICT (seq, handler) DO UPDATE
       SET state = 'parked', settled_at = excluded.settled_at, reason = excluded.reason, discarded = false
       WHERE w.discarded`,
    { seq, note, now, reason: NO_HANDLER },
  );
  return requestRetry(sql, seq, now);
}

/** Events whose note waits, oldest first. */
export function listRequested(
  sql: Sql,
  page: { limit: number; afterSeq: number },
): Promise<{ seq: number; id: string }[]> {
  return sql.rows(
    `SELECT w.seq, e.id FROM pigeonhole.inbox_work AS w JOIN pigeonhole.inbox_event AS e ON e.seq = w.seq
       JOIN pigeonhole.inbox_body AS b ON b.seq = w.seq
     WHERE w.handler = '' AND w.state = 'parked' AND w.waits_since IS NOT NULL AND w.seq > :afterSeq
     ORDER BY w.seq LIMIT :limit`,
    page,
  );
}
