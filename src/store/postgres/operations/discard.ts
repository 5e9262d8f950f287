import type { Sql } from "../sql.js";

/** Leased work is left to its run. */
const END_WORK = `
  WITH held AS MATERIALIZED (
    SELECT seq, handler FROM pigeonhole.inbox_work WHERE seq = :seq AND state <> 'leased'
    ORDER BY seq, handler FOR UPDATE
  ), gone AS (
    DELETE FROM pigeonhole.inbox_work AS w USING held WHERE w.seq = held.seq AND w.handler = held.handler
    RETURNING w.seq, w.handler, w.started
  )
  INSERT INTO pigeonhole.inbox_done (seq, handler, settled_at, attempts, discarded)
  SELECT seq, handler, :now, started, true FROM gone`;

/** Ends work without running it; the marks say so. Returns how many pieces. */
export function endWork(sql: Sql, { seq, now }: { seq: number; now: number }): Promise<number> {
  return sql.run(END_WORK, { seq, now });
}

/** Ends the work of the event with this id; returns how many pieces. */
export async function discardEvent(sql: Sql, id: string, now: number): Promise<number> {
  const row = await sql.row<{ seq: number }>("SELECT seq FROM pigeonhole.inbox_event WHERE id = :id", { id });
  return row === undefined ? 0 : endWork(sql, { seq: row.seq, now });
}
