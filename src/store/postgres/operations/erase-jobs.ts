import type { EraseCounts } from "../../erase.js";
import { type StoredJob, eraseJob } from "../../erased-job.js";
import type { Sql } from "../sql.js";
import { ERASED_ROWS, type EraseRange, type ErasedRows, type ErasureTask } from "./erase-events.js";

/** A job keeps all but the text by which its work was chosen. */
export async function eraseJobs(sql: Sql, range: EraseRange, { dryRun }: ErasureTask): Promise<ErasedRows> {
  const rows = await sql.rows<StoredJob & { seq: number }>(
    `SELECT job AS seq, state, choice FROM pigeonhole.inbox_job
     WHERE job > :afterSeq AND job <= :throughSeq ORDER BY job LIMIT ${ERASED_ROWS}`,
    range,
  );
  const counts: Partial<EraseCounts>[] = [];
  for (const { seq, ...stored } of rows) {
    const erased = eraseJob(stored);
    counts.push(erased.counts);
    if (dryRun || erased.choice === undefined) continue;
    await sql.run("UPDATE pigeonhole.inbox_job SET choice = :choice WHERE job = :seq", { seq, choice: erased.choice });
  }
  return { counts, lastSeq: rows.at(-1)?.seq };
}
