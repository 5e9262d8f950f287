import { errorMessage } from "../../base/error-text.js";
import { isPigeonholeError } from "../../base/error.js";
import {
  type BulkJobs,
  type JobRow,
  chooseJob,
  jobWorkOf,
  stuckAfter,
  stuckPlaceOf,
  toBulkJob,
  waitingPlaceOf,
} from "../bulk-jobs.js";
import type { StuckPiece } from "../inbox-operator.js";
import { jobOf } from "../operate-by-queries.js";
import { failJob, getJob, isJobAt, nextOpenJob, stepJob } from "../queries/jobs.js";
import type { BesideReceivers } from "./beside-receivers.js";
import { JobPages } from "./job-pages.js";
import { runWork } from "./operations/run-work.js";
import { selectStuck } from "../queries/select-stuck.js";
import { endPieces } from "./operations/stuck-work.js";
import { retryPieces } from "./retry-pieces.js";
import { runOnServer } from "./run-on-server.js";
import type { Sql } from "./sql.js";

interface JobsDeps {
  beside: BesideReceivers;
  /** Where nobody waits for the answer. */
  pages: BesideReceivers;
  /** Time that never jumps, in milliseconds. */
  elapsed: () => number;
}

/** Runs a page of a job over work in a database beside its receivers. */
export function runJobPageOfDatabase({ beside, pages, elapsed }: JobsDeps): BulkJobs["runJobPage"] {
  const { read, write } = beside;
  const sizes = new JobPages(elapsed);
  return async () => {
    const chosen = await chooseJob({
      nextOpen: (left) => read("looking for a job", (sql) => runOnServer(sql, nextOpenJob(left))),
      now: () => read("reading the time", async (sql) => beside.now(sql)),
    });
    if (chosen === undefined) return undefined;
    const { row: open } = chosen;
    const fail = async (error: string): Promise<void> =>
      void (await write("ending a job", (sql, now) => runOnServer(sql, failJob({ id: open.id, now, error }))));
    try {
      if (chosen.error === undefined) await runPage(pages, { row: open, limit: sizes.rowsOf(open) });
      else await fail(chosen.error);
      sizes.noteDone(open);
    } catch (error) {
      if (isPigeonholeError(error, "stopped") || !sizes.noteFailed(open)) throw error;
      // It would keep younger ones from their turn.
      await fail(errorMessage(error));
    }
    return read("reading a job", async (sql) => jobOf(await runOnServer(sql, getJob(open.id))));
  };
}

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
    if (!(await runOnServer(sql, isJobAt(row)))) return;
    const choice = jobWorkOf(row, now);
    const { pieces, next } = await runWork(sql, { choice, now, from: waitingPlaceOf(row), limit });
    await runOnServer(sql, stepJob({ row, next, now, done: pieces.length, skipped: 0 }));
  });
}

async function changeStuck({ now: readNow, read, write }: BesideReceivers, { row, limit }: JobPage): Promise<void> {
  const { action, choice } = toBulkJob(row);
  const at = stuckPlaceOf(row);
  const page = await read("listing work", async (sql) => {
    const ofState = { ...jobWorkOf(row, await readNow(sql)), state: at.state };
    return runOnServer(sql, selectStuck({ choice: ofState, after: at, limit }));
  });
  const next = stuckAfter(choice, { at, page, isFull: page.length === limit });
  await write("changing work", async (sql, now) => {
    if (!(await runOnServer(sql, isJobAt(row)))) return;
    const { done, skipped } = action === "discard" ? await discard(sql, page, now) : await retry(sql, page, now);
    await runOnServer(sql, stepJob({ row, next, now, done, skipped }));
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
  const within: Pick<BesideReceivers, "read" | "write"> = {
    read: (_doing, use) => use(sql),
    write: (_doing, use) => use(sql, now),
  };
  const { pending, readAgain, skipped } = await retryPieces(within, pieces);
  return { done: pending.length + readAgain.length, skipped };
}
