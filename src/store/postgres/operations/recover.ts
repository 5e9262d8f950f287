import { CRASH_LOOP } from "../../error-kind.js";
import { CRASH_LIMIT, TAKEN_OVER_AFTER_MS } from "../../work-state.js";
import type { Sql } from "../sql.js";
import { HELD_LOCKS } from "../advisory-lock.js";
import { notLeased } from "./given-rows.js";
import { SERVER_TIME } from "../database-clock.js";

const HELD = `SELECT number FROM ${HELD_LOCKS}`;

/** A mark that was made before a restart or a failover says nothing: then all locks are gone for a while. */
const IS_NOTED = "coalesce(n.missing_on = pg_postmaster_start_time(), false)";
const IS_MISSING = `NOT n.ended AND n.id NOT IN (${HELD})`;

/**
 * A process that lives takes its lock again as soon as it can, or ends its runs. It has more time after a restart of
 * the server, which not all can reach at once.
 */
const IS_GONE = `(n.ended OR (${IS_MISSING} AND ${IS_NOTED} AND n.missing_since < clock_timestamp()
  - CASE WHEN n.server_start = pg_postmaster_start_time() THEN interval '${TAKEN_OVER_AFTER_MS} ms' ELSE interval '20 s' END))`;

const NOTE_MISSING = `
  UPDATE pigeonhole.inbox_process AS n SET missing_since = clock_timestamp(), missing_on = pg_postmaster_start_time()
  WHERE ${IS_MISSING} AND NOT ${IS_NOTED}`;

const GONE = `gone AS MATERIALIZED (SELECT n.id FROM pigeonhole.inbox_process AS n WHERE n.id <> :process AND ${IS_GONE})`;

const WITHOUT_HOLDER = "state = 'leased' AND (lease_until < :expiredBefore OR process IN (SELECT id FROM gone))";

/**
 * Whether there is something for {@link recoverWork} to do, or this process has lost its lock: an expression. Takes
 * `:process`, `:lockClass`, and as `:expiredBefore` what {@link expiredBefore} returns.
 */
export const HAS_ORPHANS = `(
  :process > 0 AND :process NOT IN (${HELD}) OR
  EXISTS (SELECT 1 FROM pigeonhole.inbox_process AS n WHERE ${IS_GONE} OR (${IS_MISSING} AND NOT ${IS_NOTED}))
  OR EXISTS (SELECT 1 FROM pigeonhole.inbox_work WHERE state = 'leased' AND lease_until < :expiredBefore)
  OR EXISTS (SELECT 1 FROM pigeonhole.outbox_send WHERE state = 'leased' AND lease_until < :expiredBefore))`;

/** Rows that are locked are being settled at the moment. */
const RECOVER_WORK = `
  WITH ${GONE}, held AS MATERIALIZED (
    SELECT seq, handler, started - finished >= :limit AS is_looping FROM pigeonhole.inbox_work
    WHERE ${WITHOUT_HOLDER} ORDER BY seq, handler FOR UPDATE SKIP LOCKED
  ), freed AS (
    UPDATE pigeonhole.inbox_work AS w
    SET state = CASE WHEN is_looping THEN 'parked' ELSE 'pending' END, due_at = CASE WHEN NOT is_looping THEN :now::bigint END,
      settled_at = CASE WHEN is_looping THEN :now::bigint END, reason = CASE WHEN is_looping THEN :reason END,
      error = CASE WHEN is_looping THEN :error ELSE error END, lease = NULL, lease_until = NULL, process = NULL,
      error_group = CASE WHEN is_looping THEN :errorGroup ELSE error_group END,
      failed_at = CASE WHEN is_looping THEN :now::bigint ELSE failed_at END,
      error_type = CASE WHEN is_looping THEN (SELECT e.type FROM pigeonhole.inbox_event AS e WHERE e.seq = w.seq)
        ELSE error_type END
    FROM held WHERE w.seq = held.seq AND w.handler = held.handler
    RETURNING is_looping
  )
  SELECT count(*) FILTER (WHERE NOT is_looping) AS recovered, count(*) FILTER (WHERE is_looping) AS parked FROM freed`;

const RECOVER_SENDS = `
  WITH ${GONE}, held AS MATERIALIZED (
    SELECT send FROM pigeonhole.outbox_send WHERE ${WITHOUT_HOLDER} ORDER BY send FOR UPDATE SKIP LOCKED
  )
  UPDATE pigeonhole.outbox_send AS s
  SET state = 'pending', due_at = :now, lease = NULL, lease_until = NULL, process = NULL
  FROM held WHERE s.send = held.send`;

const FORGET_PROCESSES = `
  WITH ${GONE}
  DELETE FROM pigeonhole.inbox_process AS n WHERE id IN (SELECT id FROM gone)
    AND NOT EXISTS (SELECT 1 FROM pigeonhole.inbox_work AS w WHERE w.state = 'leased' AND w.process = n.id)
    AND NOT EXISTS (SELECT 1 FROM pigeonhole.outbox_send AS s WHERE s.state = 'leased' AND s.process = n.id)`;

/** This process, and how the locks of all are found. */
export interface ProcessLock {
  process: number;
  lockClass: number;
  /** False for a while after the database could not be reached: other processes may not have renewed their leases. */
  mayExpire: boolean;
}

/** The process that gets leases, and the token of all that one statement gives. */
export interface LeaseHolder extends Pick<ProcessLock, "process"> {
  /** Made before the statement, so that its leases can be found where its answer is lost. */
  token: number;
}

/** Leases that end before this time have no holder. */
export function expiredBefore({ mayExpire }: ProcessLock, now: number): number {
  return mayExpire ? now : 0;
}

/**
 * Ends leases without a holder: those that expired, and those of processes that are gone. A run that never finished
 * counts as a crash; at {@link CRASH_LIMIT} the work is parked. A call to the API whose answer can no longer arrive is
 * repeated unchanged.
 */
export async function recoverWork(
  sql: Sql,
  lock: ProcessLock,
  now: number,
): Promise<{ recovered: number; parked: number }> {
  const values = { ...lock, now, expiredBefore: expiredBefore(lock, now), limit: CRASH_LIMIT, ...CRASH_LOOP };
  await sql.run(NOTE_MISSING, values);
  const freed = await sql.row<{ recovered: number; parked: number }>(RECOVER_WORK, values);
  await sql.run(RECOVER_SENDS, values);
  await sql.run(FORGET_PROCESSES, values);
  return freed ?? { recovered: 0, parked: 0 };
}

const RELEASE_WORK = `
  WITH given AS MATERIALIZED (
    SELECT seq, handler FROM pigeonhole.inbox_work
    WHERE state = 'leased' AND process = :process AND lease = ANY(:tokens::bigint[])
    ORDER BY seq, handler FOR UPDATE SKIP LOCKED
  )
  UPDATE pigeonhole.inbox_work AS w
  SET ${notLeased(SERVER_TIME)}
  FROM given JOIN pigeonhole.inbox_event AS e USING (seq) WHERE w.seq = given.seq AND w.handler = given.handler`;

const RELEASE_SENDS = `
  UPDATE pigeonhole.outbox_send
  SET state = 'pending', due_at = ${SERVER_TIME}, lease = NULL, lease_until = NULL, process = NULL, started = started - 1
  WHERE state = 'leased' AND process = :process AND lease = ANY(:tokens::bigint[])`;

/** Makes work and calls pending that were leased under these tokens, as if they had not been leased. */
export async function releaseUnknown(sql: Sql, process: number, tokens: readonly number[]): Promise<void> {
  await sql.run(RELEASE_WORK, { process, tokens });
  await sql.run(RELEASE_SENDS, { process, tokens });
}
