import { type JobRow, type JobStep, toStepValues } from "../bulk-jobs.js";
import { type StoreQuery, exists, readFirst, readRows, run } from "./store-query.js";

const SELECT = `
  SELECT id, action, choice, created_by AS by, created_at AS "createdAt", state, position, total, done, skipped,
    ended_at AS "endedAt", error
  FROM pigeonhole.inbox_job`;

const END = "UPDATE pigeonhole.inbox_job SET ended_at = :now";

/** Stores a job, and drops ended ones once there are `kept` newer ones. */
export function* createJob(row: JobRow, kept: number): StoreQuery<void> {
  yield* run(
    `INSERT INTO pigeonhole.inbox_job (id, action, choice, created_by, created_at, state, total)
     VALUES (:id, :action, :choice, :by, :createdAt, :state, :total)`,
    row,
  );
  yield* run(
    `DELETE FROM pigeonhole.inbox_job WHERE state <> 'open'
       AND job <= (SELECT job FROM pigeonhole.inbox_job ORDER BY job DESC LIMIT 1 OFFSET :kept)`,
    { kept },
  );
}

export function getJob(id: string): StoreQuery<JobRow | undefined> {
  return readFirst(`${SELECT} WHERE id = :id`, { id });
}

/** The oldest open jobs and, where there is room, the newest ended ones; the newest first. */
export function listJobs(limit: number): StoreQuery<JobRow[]> {
  return readRows(
    `${SELECT} WHERE job IN (
       SELECT job FROM pigeonhole.inbox_job
       ORDER BY state <> 'open', CASE WHEN state = 'open' THEN job ELSE -job END LIMIT :limit)
     ORDER BY job DESC`,
    { limit },
  );
}

/** The oldest open job that no other process is at. */
export function chooseJob(): StoreQuery<JobRow | undefined> {
  return readFirst(`${SELECT} WHERE state = 'open' ORDER BY job LIMIT 1 FOR UPDATE SKIP LOCKED`);
}

/** Locks a job until the transaction ends. False when another process has done the page, or the job has ended. */
export function isJobAt({ id, position }: JobRow): StoreQuery<boolean> {
  return exists(
    `SELECT 1 AS found FROM pigeonhole.inbox_job
     WHERE id = :id AND state = 'open' AND position IS NOT DISTINCT FROM :position FOR UPDATE`,
    { id, position },
  );
}

/** Notes a page, in the transaction of its changes. */
export function stepJob(of: JobStep): StoreQuery<number> {
  return run(
    `UPDATE pigeonhole.inbox_job SET position = :position, state = :state, ended_at = :endedAt, done = done + :done,
       skipped = skipped + :skipped
     WHERE id = :id`,
    toStepValues(of),
  );
}

/** False when it is not open. */
export function* cancelJob(of: { id: string; now: number }): StoreQuery<boolean> {
  return (yield* run(`${END}, state = 'cancelled' WHERE id = :id AND state = 'open'`, of)) === 1;
}

export function failJob(of: { id: string; now: number; error: string }): StoreQuery<number> {
  return run(`${END}, state = 'failed', error = :error WHERE id = :id AND state = 'open'`, of);
}
