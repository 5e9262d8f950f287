import { type JobRow, type JobStep, toStepValues } from "../../bulk-jobs.js";
import type { Sql } from "../sql.js";

const SELECT = `
  SELECT id, action, choice, created_by AS by, created_at AS "createdAt", state, position, total, done, skipped,
    ended_at AS "endedAt", error
  FROM pigeonhole.inbox_job`;

const END = "UPDATE pigeonhole.inbox_job SET ended_at = :now";

/** Stores a job, and drops ended ones once there are `kept` newer ones. */
export async function createJob(sql: Sql, row: JobRow, kept: number): Promise<void> {
  await sql.run(
    `INSERT INTO pigeonhole.inbox_job (id, action, choice, created_by, created_at, state, total)
     VALUES (:id, :action, :choice, :by, :createdAt, :state, :total)`,
    row,
  );
  await sql.run(
    `DELETE FROM pigeonhole.inbox_job WHERE state <> 'open'
       AND job <= (SELECT job FROM pigeonhole.inbox_job ORDER BY job DESC LIMIT 1 OFFSET :kept)`,
    { kept },
  );
}

export function getJob(sql: Sql, id: string): Promise<JobRow | undefined> {
  return sql.row(`${SELECT} WHERE id = :id`, { id });
}

/** The oldest open jobs and, where there is room, the newest ended ones; the newest first. */
export function listJobs(sql: Sql, limit: number): Promise<JobRow[]> {
  return sql.rows(
    `${SELECT} WHERE job IN (
       SELECT job FROM pigeonhole.inbox_job
       ORDER BY state <> 'open', CASE WHEN state = 'open' THEN job ELSE -job END LIMIT :limit)
     ORDER BY job DESC`,
    { limit },
  );
}

/** The oldest open job that no other process is at, but those with the ids in `left`. */
export function nextOpenJob(sql: Sql, left: readonly string[]): Promise<JobRow | undefined> {
  return sql.row(
    `${SELECT} WHERE state = 'open' AND id <> ALL(:left::text[]) ORDER BY job FOR UPDATE SKIP LOCKED LIMIT 1`,
    { left },
  );
}

/** Locks a job until the transaction ends. False when another process has done the page, or the job has ended. */
export async function isJobAt(sql: Sql, { id, position }: JobRow): Promise<boolean> {
  const found = await sql.row(
    `SELECT 1 AS found FROM pigeonhole.inbox_job
     WHERE id = :id AND state = 'open' AND position IS NOT DISTINCT FROM :position FOR UPDATE`,
    { id, position },
  );
  return found !== undefined;
}

/** Notes a page, in the transaction of its changes. */
export async function stepJob(sql: Sql, of: JobStep): Promise<void> {
  await sql.run(
    `UPDATE pigeonhole.inbox_job SET position = :position, state = :state, ended_at = :endedAt, done = done + :done,
       skipped = skipped + :skipped
     WHERE id = :id`,
    toStepValues(of),
  );
}

/** False when it is not open. */
export async function cancelJob(sql: Sql, of: { id: string; now: number }): Promise<boolean> {
  return (await sql.run(`${END}, state = 'cancelled' WHERE id = :id AND state = 'open'`, of)) === 1;
}

export async function failJob(sql: Sql, of: { id: string; now: number; error: string }): Promise<void> {
  await sql.run(`${END}, state = 'failed', error = :error WHERE id = :id AND state = 'open'`, of);
}
