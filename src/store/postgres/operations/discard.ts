import type { Sql } from "../sql.js";
import { ended } from "./ended.js";

/** Leased work is left to its run. */
const END_WORK = `
  WITH held AS MATERIALIZED (
    SELECT seq, handler FROM pigeonhole.inbox_work WHERE seq = :seq AND state NOT IN ('leased', 'done')
    ORDER BY seq, handler FOR UPDATE
  )
  UPDATE pigeonhole.inbox_work AS w SET ${ended(":now::bigint")}, discarded = true
  FROM held WHERE w.seq = held.seq AND w.handler = held.handler`;

/** Ends work without running it. Returns how many pieces. */
export function endWork(sql: Sql, { seq, now }: { seq: number; now: number }): Promise<number> {
  return sql.run(END_WORK, { seq, now });
}

/** Ends the work of the event with this id; returns how many pieces. */
export async function discardEvent(sql: Sql, id: string, now: number): Promise<number> {
  const row = await sql.row<{ seq: number }>("SELECT seq FROM pigeonhole.inbox_event WHERE id = :id", { id });
  return row === undefined ? 0 : endWork(sql, { seq: row.seq, now });
}
