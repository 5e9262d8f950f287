import { randomUUID } from "node:crypto";
import { errorMessage } from "../../base/error-text.js";
import { isPigeonholeError } from "../../base/error.js";
import {
  type BulkJob,
  type BulkJobs,
  type JobRow,
  KEPT_JOBS,
  checkJob,
  chooseJob,
  jobLimit,
  jobWorkOf,
  newJobRow,
  stuckAfter,
  stuckPlaceOf,
  toBulkJob,
  waitingPlaceOf,
} from "../bulk-jobs.js";
import type { StuckPiece } from "../inbox-operator.js";
import type { BesideReceivers } from "./beside-receivers.js";
import { JobPages } from "./job-pages.js";
import { cancelJob, createJob, failJob, getJob, isJobAt, listJobs, nextOpenJob, stepJob } from "./operations/jobs.js";
import { countWaiting, runWork } from "./operations/run-now.js";
import { readServerTime } from "./operations/server-time.js";
import { countStuck, endPieces, selectStuck } from "./operations/stuck-work.js";
import { retryPieces } from "./retry-pieces.js";
import type { Sql } from "./sql.js";

interface JobsDeps {
  beside: BesideReceivers;
  /** Where nobody waits for the answer. */
  pages: BesideReceivers;
  /** Time that never jumps, in milliseconds. */
  elapsed: () => number;
}

/** Jobs over work in a database beside its receivers. */
export function operateJobsOfDatabase({ beside: { read, write }, pages, elapsed }: JobsDeps): BulkJobs {
  const sizes = new JobPages(elapsed);

  async function countJob(
    sql: Sql,
    job: Pick<BulkJob, "action" | "choice">,
  ): Promise<{ events: number; work: number }> {
    checkJob(job);
    const { action, choice } = job;
    return action === "run" ? countWaiting(sql, choice, await readServerTime(sql)) : countStuck(sql, choice);
  }

  return {
    countJob: (job) => read("counting work", (sql) => countJob(sql, job)),
    createJob: (job) =>
      write("creating a job", async (sql, now) => {
        const { work: total } = await countJob(sql, job);
        const row = newJobRow({ ...job, id: randomUUID(), createdAt: now, total });
        await createJob(sql, row, KEPT_JOBS);
        return toBulkJob(row);
      }),
    listJobs: (query) => read("listing jobs", async (sql) => (await listJobs(sql, jobLimit(query))).map(toBulkJob)),
    getJob: (id) => read("reading a job", async (sql) => jobOf(await getJob(sql, id))),
    cancelJob: (id) => write("cancelling a job", (sql, now) => cancelJob(sql, { id, now })),
    async runJobPage() {
      const chosen = await chooseJob({
        nextOpen: (left) => read("looking for a job", (sql) => nextOpenJob(sql, left)),
        now: () => read("reading the time", readServerTime),
      });
      if (chosen === undefined) return undefined;
      const { row: open } = chosen;
      const fail = (error: string): Promise<void> =>
        write("ending a job", (sql, now) => failJob(sql, { id: open.id, now, error }));
      try {
        if (chosen.error === undefined) await runPage(pages, { row: open, limit: sizes.rowsOf(open) });
        else await fail(chosen.error);
        sizes.noteDone(open);
      } catch (error) {
        if (isPigeonholeError(error, "stopped") || !sizes.noteFailed(open)) throw error;
        // It would keep younger ones from their turn.
        await fail(errorMessage(error));
      }
      return read("reading a job", async (sql) => jobOf(await getJob(sql, open.id)));
    },
  };
}

const jobOf = (row: JobRow | undefined): BulkJob | undefined => (row === undefined ? undefined : toBulkJob(row));

/** The page is read without a lock. Its change locks the job first: of two processes, one makes it. */
function runPage(beside: BesideReceivers, page: JobPage): Promise<void> {
  return page.row.action === "run" ? runWaiting(beside, page) : changeStuck(beside, page);
}

/** `limit`: rows that it looks at. */
interface JobPage {
  row: JobRow;
  limit: number;
}

function runWaiting({ write }: BesideReceivers, { row, limit }: JobPage): Promise<void> {
  return write("running waiting work", async (sql, now) => {
    if (!(await isJobAt(sql, row))) return;
    const choice = jobWorkOf(row, now);
    const { pieces, next } = await runWork(sql, { choice, now, from: waitingPlaceOf(row), limit });
    await stepJob(sql, { row, next, now, done: pieces.length, skipped: 0 });
  });
}

async function changeStuck({ read, write }: BesideReceivers, { row, limit }: JobPage): Promise<void> {
  const { action, choice } = toBulkJob(row);
  const at = stuckPlaceOf(row);
  const page = await read("listing work", async (sql) => {
    const ofState = { ...jobWorkOf(row, await readServerTime(sql)), state: at.state };
    return selectStuck(sql, { choice: ofState, after: at, limit });
  });
  const next = stuckAfter(choice, { at, page, isFull: page.length === limit });
  await write("changing work", async (sql, now) => {
    if (!(await isJobAt(sql, row))) return;
    const { done, skipped } = action === "discard" ? await discard(sql, page, now) : await retry(sql, page, now);
    await stepJob(sql, { row, next, now, done, skipped });
  });
}

interface ChangedPieces {
  done: number;
  skipped: number;
}

/** Leaves nothing that is still stuck. */
async function discard(sql: Sql, pieces: readonly StuckPiece[], now: number): Promise<ChangedPieces> {
  return { done: (await endPieces(sql, { pieces, now })).length, skipped: 0 };
}

/** In the transaction of the page. */
async function retry(sql: Sql, pieces: readonly StuckPiece[], now: number): Promise<ChangedPieces> {
  const within: BesideReceivers = { read: (_doing, use) => use(sql), write: (_doing, use) => use(sql, now) };
  const { pending, readAgain, skipped } = await retryPieces(within, pieces);
  return { done: pending.length + readAgain.length, skipped };
}
