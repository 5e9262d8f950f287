import type { Sql } from "../sql.js";

/**
 * A wait that began later than now, under a clock that was ahead, begins now; one whose beginning is not noted is over.
 */
const RESTART = "due_at = :now::bigint + due_at - coalesce(waits_since, due_at), waits_since = :now::bigint";
const BEGAN_LATER = "state = 'pending' AND due_at > :now AND coalesce(waits_since, due_at) > :now";

const SHORTEN_LEASES = `
  WITH longer AS (
    SELECT seq, handler FROM pigeonhole.inbox_work WHERE state = 'leased' AND lease_until > :leaseUntil
    ORDER BY seq, handler FOR UPDATE SKIP LOCKED
  )
  UPDATE pigeonhole.inbox_work AS w SET lease_until = :leaseUntil FROM longer
  WHERE w.seq = longer.seq AND w.handler = longer.handler`;

/**
 * Corrects what was written while the clock was ahead: waits for a next try keep their intended length, and leases end
 * as those given now. Does not change work that is due.
 */
export async function restartWaits(sql: Sql, limits: { now: number; leaseUntil: number }): Promise<number> {
  const sends = await sql.run(`UPDATE pigeonhole.outbox_send SET ${RESTART} WHERE ${BEGAN_LATER}`, limits);
  const work = await sql.run(`UPDATE pigeonhole.inbox_work SET ${RESTART} WHERE ${BEGAN_LATER}`, limits);
  await sql.run(SHORTEN_LEASES, limits);
  return sends + work;
}
