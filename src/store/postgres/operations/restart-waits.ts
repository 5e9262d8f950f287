import { BEFORE_ALL, type WorkPiece } from "../../bulk-jobs.js";
import type { Sql } from "../sql.js";

/** Runs statements on the store's own connection; what others ask for runs between two calls. */
type Work = <Value>(use: (sql: Sql) => Promise<Value>) => Promise<Value>;

/** Rows that are looked at by one statement: it ends long before the time that it may take. */
const PAGE = 5_000;

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

/** Rows that others have locked are restarted by them, or planned again. Returns the last row of the page. */
const RESTART_PAGE = `
  WITH page AS MATERIALIZED (
    SELECT seq, handler FROM pigeonhole.inbox_work WHERE state = 'pending' AND (seq, handler) > (:seq::bigint, :handler)
    ORDER BY seq, handler LIMIT ${PAGE}
  ), wrong AS (
    SELECT seq, handler FROM pigeonhole.inbox_work
    WHERE (seq, handler) IN (SELECT seq, handler FROM page) AND ${BEGAN_LATER}
    ORDER BY seq, handler FOR UPDATE SKIP LOCKED
  ), restarted AS (
    UPDATE pigeonhole.inbox_work AS w SET ${RESTART} FROM wrong WHERE w.seq = wrong.seq AND w.handler = wrong.handler
    RETURNING 1
  )
  SELECT seq, handler, (SELECT count(*) FROM restarted) AS restarted
  FROM page ORDER BY seq DESC, handler DESC LIMIT 1`;

/**
 * Corrects what was written while the clock was ahead: waits for a next try keep their intended length, and leases end
 * as those given now. Takes a page at a time.
 */
export async function restartWaits(work: Work, limits: { now: number; leaseUntil: number }): Promise<number> {
  let restarted = await work(async (sql) => {
    await sql.run(SHORTEN_LEASES, limits);
    return sql.run(`UPDATE pigeonhole.outbox_send SET ${RESTART} WHERE ${BEGAN_LATER}`, limits);
  });
  for (let reached: WorkPiece | undefined = BEFORE_ALL; reached !== undefined;) {
    const values: object = { ...reached, now: limits.now };
    const page = await work((sql) => sql.row<WorkPiece & { restarted: number }>(RESTART_PAGE, values));
    restarted += page?.restarted ?? 0;
    reached = page;
  }
  return restarted;
}
