import type { Database } from "better-sqlite3";
import { type JobRow, type JobStep, toStepValues } from "../../bulk-jobs.js";

const COLUMNS = `
  job, id, action, choice, created_by AS by, created_at AS createdAt, state, position, total, done, skipped,
  ended_at AS endedAt, error`;

const END = "UPDATE inbox_job SET ended_at = :now";

/** The statements on jobs. */
export function prepareJobs(db: Database) {
  const insert = db.prepare<JobRow>(`
    INSERT INTO inbox_job (id, action, choice, created_by, created_at, state, total)
    VALUES (:id, :action, :choice, :by, :createdAt, :state, :total)`);
  const dropOld = db.prepare<{ kept: number }>(`
    DELETE FROM inbox_job WHERE state <> 'open'
      AND job <= (SELECT job FROM inbox_job ORDER BY job DESC LIMIT 1 OFFSET :kept)`);
  const selectById = db.prepare<[string], JobRow>(`SELECT ${COLUMNS} FROM inbox_job WHERE id = ?`);
  const selectListed = db.prepare<[number], JobRow>(`
    SELECT ${COLUMNS} FROM inbox_job
    WHERE job IN (
      SELECT job FROM inbox_job ORDER BY state <> 'open', CASE WHEN state = 'open' THEN job ELSE -job END LIMIT ?)
    ORDER BY job DESC`);
  const selectOpen = db.prepare<[string], JobRow>(
    `SELECT ${COLUMNS} FROM inbox_job
     WHERE state = 'open' AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY job LIMIT 1`,
  );
  const selectAt = db.prepare<{ id: string; position: string | null }>(
    "SELECT 1 FROM inbox_job WHERE id = :id AND state = 'open' AND position IS :position",
  );
  const step = db.prepare(`
    UPDATE inbox_job SET position = :position, state = :state, ended_at = :endedAt, done = done + :done,
      skipped = skipped + :skipped
    WHERE id = :id`);
  const cancel = db.prepare(`${END}, state = 'cancelled' WHERE id = :id AND state = 'open'`);
  const fail = db.prepare(`${END}, state = 'failed', error = :error WHERE id = :id AND state = 'open'`);

  return {
    create(job: JobRow, kept: number): void {
      insert.run(job);
      dropOld.run({ kept });
    },
    get: (id: string): JobRow | undefined => selectById.get(id),
    /** The oldest open jobs and, where there is room, the newest ended ones; the newest first. */
    list: (limit: number): JobRow[] => selectListed.all(limit),
    /** The oldest open job, but those with the ids in `left`. */
    nextOpen: (left: readonly string[]): JobRow | undefined => selectOpen.get(JSON.stringify(left)),
    /** False when another process has done the page, or the job has ended. */
    isAt: ({ id, position }: JobRow): boolean => selectAt.get({ id, position }) !== undefined,
    /** Notes a page, in the transaction of its changes. */
    step: (of: JobStep): void => void step.run(toStepValues(of)),
    cancel: (id: string, now: number): boolean => cancel.run({ id, now }).changes === 1,
    fail: (of: { id: string; now: number; error: string }): void => void fail.run(of),
  };
}
