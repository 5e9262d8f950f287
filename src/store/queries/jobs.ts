import type { JobAction, JobChange, JobRow } from "../bulk-jobs.js";
import { type StoreQuery, exists, readFirst, readRows, run } from "./store-query.js";

export const SELECT_JOBS = `
  SELECT id, action, choice, created_by AS by, created_at AS "createdAt", state, position, total, done,
    ended_at AS "endedAt", error, paused
  FROM pigeonhole.inbox_job`;

const END = "UPDATE pigeonhole.inbox_job SET ended_at = :now";

/** Stores a job, and drops ended ones once there are `kept` newer ones. */
export function* createJob(row: JobRow, kept: number): StoreQuery<void> {
  yield* run(
    `INSERT INTO pigeonhole.inbox_job (id, action, choice, created_by, created_at, state, total, position)
     VALUES (:id, :action, :choice, :by, :createdAt, :state, :total, :position)`,
    row,
  );
  yield* run(
    `DELETE FROM pigeonhole.inbox_job WHERE state <> 'open'
       AND job <= (SELECT job FROM pigeonhole.inbox_job ORDER BY job DESC LIMIT 1 OFFSET :kept)`,
    { kept },
  );
}

export function getJob(id: string): StoreQuery<JobRow | undefined> {
  return readFirst(`${SELECT_JOBS} WHERE id = :id`, { id });
}

/** The oldest open jobs and, where there is room, the newest ended ones; the newest first. */
export function listJobs(limit: number): StoreQuery<JobRow[]> {
  return readRows(
    `${SELECT_JOBS} WHERE job IN (
       SELECT job FROM pigeonhole.inbox_job
       ORDER BY state <> 'open', CASE WHEN state = 'open' THEN job ELSE -job END LIMIT :limit)
     ORDER BY job DESC`,
    { limit },
  );
}

/** It goes on. */
export const IS_UNDER_WAY = "state = 'open' AND NOT paused";

/** The oldest open job that no other process is at. What is planned is so where its handler runs. */
export function chooseJob(): StoreQuery<JobRow<JobAction> | undefined> {
  return readFirst(
    `${SELECT_JOBS} WHERE ${IS_UNDER_WAY} AND action <> 'plan' ORDER BY job LIMIT 1 FOR UPDATE SKIP LOCKED`,
  );
}

/** Locks a job until the transaction ends. False when another process has done the page, or the job has ended. */
export function isJobAt({ id, position }: JobRow): StoreQuery<boolean> {
  return exists(
    `SELECT 1 AS found FROM pigeonhole.inbox_job
     WHERE id = :id AND ${IS_UNDER_WAY} AND position IS NOT DISTINCT FROM :position FOR UPDATE`,
    { id, position },
  );
}

/** A page of a job that was done. */
interface JobStep {
  /** The job before it. */
  row: JobRow;
  /** Where the next page begins; undefined after the last. */
  next: object | undefined;
  now: number;
  done: number;
}

/** Notes a page, in the transaction of its changes. */
export function stepJob({ row, next, now, done }: JobStep): StoreQuery<number> {
  const [state, endedAt] = next === undefined ? ["done", now] : ["open", null];
  const position = next === undefined ? row.position : JSON.stringify(next);
  return run(
    `UPDATE pigeonhole.inbox_job SET position = :position, state = :state, ended_at = :endedAt, done = done + :done
     WHERE id = :id`,
    { id: row.id, position, state, endedAt, done },
  );
}

const CHANGES: Readonly<Record<JobChange, string>> = {
  cancel: `${END}, state = 'cancelled'`,
  pause: "UPDATE pigeonhole.inbox_job SET paused = true",
  resume: "UPDATE pigeonhole.inbox_job SET paused = false",
};

/** False when it is not open. */
export function* changeOpenJob(change: JobChange, of: { id: string; now: number }): StoreQuery<boolean> {
  return (yield* run(`${CHANGES[change]} WHERE id = :id AND state = 'open'`, of)) === 1;
}

export function failJob(of: { id: string; now: number; error: string }): StoreQuery<number> {
  return run(`${END}, state = 'failed', error = :error WHERE id = :id AND state = 'open'`, of);
}
