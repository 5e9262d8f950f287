import { CRASH_LIMIT } from "../../work-state.js";
import type { Sql } from "../sql.js";

/**
 * Processes whose lock is gone. After a start of the server all locks are gone, and a process may come back: what it
 * had leased then waits for the end of the leases.
 */
const GONE = `
  gone AS MATERIALIZED (
    SELECT n.id FROM pigeonhole.node AS n
    WHERE n.id <> :node AND n.server_start = pg_postmaster_start_time() AND NOT EXISTS (
      SELECT 1 FROM pg_locks AS l
      WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND l.classid = (:lockClass::bigint & 4294967295)::oid AND l.objid = n.id::bigint::oid)
  )`;

const WITHOUT_HOLDER = "state = 'leased' AND (lease_until < :now OR node IN (SELECT id FROM gone))";

/** Rows that are locked are being settled at the moment. */
const RECOVER_WORK = `
  WITH ${GONE}, held AS MATERIALIZED (
    SELECT seq, handler, started - finished >= :limit AS is_looping FROM pigeonhole.inbox_work
    WHERE ${WITHOUT_HOLDER} ORDER BY seq, handler FOR UPDATE SKIP LOCKED
  ), freed AS (
    UPDATE pigeonhole.inbox_work AS w
    SET state = CASE WHEN is_looping THEN 'parked' ELSE 'pending' END, due_at = CASE WHEN NOT is_looping THEN :now::bigint END,
      settled_at = CASE WHEN is_looping THEN :now::bigint END, reason = CASE WHEN is_looping THEN 'crash_loop' END,
      error = CASE WHEN is_looping THEN :error ELSE error END, lease = NULL, lease_until = NULL, node = NULL
    FROM held WHERE w.seq = held.seq AND w.handler = held.handler
    RETURNING is_looping
  )
  SELECT count(*) FILTER (WHERE NOT is_looping) AS recovered, count(*) FILTER (WHERE is_looping) AS parked FROM freed`;

const RECOVER_SENDS = `
  WITH ${GONE}, held AS MATERIALIZED (
    SELECT send FROM pigeonhole.outbox_send WHERE ${WITHOUT_HOLDER} ORDER BY send FOR UPDATE SKIP LOCKED
  )
  UPDATE pigeonhole.outbox_send AS s
  SET state = 'pending', due_at = :now, lease = NULL, lease_until = NULL, node = NULL
  FROM held WHERE s.send = held.send`;

const FORGET_NODES = `
  WITH ${GONE}
  DELETE FROM pigeonhole.node AS n WHERE id IN (SELECT id FROM gone)
    AND NOT EXISTS (SELECT 1 FROM pigeonhole.inbox_work AS w WHERE w.state = 'leased' AND w.node = n.id)
    AND NOT EXISTS (SELECT 1 FROM pigeonhole.outbox_send AS s WHERE s.state = 'leased' AND s.node = n.id)`;

/** This process, and how the locks of all are found. */
export interface NodeLock {
  node: number;
  lockClass: number;
}

/**
 * Ends leases without a holder: those that expired, and those of processes that are gone. A run that never finished
 * counts as a crash; at {@link CRASH_LIMIT} the work is parked. A call to the API whose answer can no longer arrive is
 * repeated unchanged.
 */
export async function recoverWork(
  sql: Sql,
  { node, lockClass }: NodeLock,
  now: number,
): Promise<{ recovered: number; parked: number }> {
  const error = `The process ended ${CRASH_LIMIT} times while this handler ran on this event.`;
  const values = { node, lockClass, now, limit: CRASH_LIMIT, error };
  const freed = await sql.row<{ recovered: number; parked: number }>(RECOVER_WORK, values);
  await sql.run(RECOVER_SENDS, values);
  await sql.run(FORGET_NODES, values);
  return freed ?? { recovered: 0, parked: 0 };
}
