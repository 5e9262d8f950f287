import {
  type BulkJobs,
  type JobRow,
  chooseJob,
  jobWorkOf,
  stuckAfter,
  stuckPlaceOf,
  waitingPlaceOf,
} from "../bulk-jobs.js";
import { jobOf } from "../operate-by-queries.js";
import { failJob, getJob, isJobAt, nextOpenJob, stepJob } from "../queries/jobs.js";
import { selectStuck } from "../queries/select-stuck.js";
import type { Database } from "better-sqlite3";
import { type StuckChange, changeStuck as changePiece } from "./change-stuck.js";
import { PAGE, changeInTime } from "./pages-beside.js";
import { runBeside } from "./run-beside.js";
import { runInFile } from "./run-in-file.js";
import { prepareWaitingPages } from "./waiting-work-of-file.js";

/** Runs a page of a job over work in a file beside its receiver. */
export function runJobPageOfFile(db: Database, now: () => number): BulkJobs["runJobPage"] {
  const runPage = prepareRunPage(db, now);
  return async () => {
    const chosen = await chooseJob({
      nextOpen: (left) => runBeside(db, "deferred", () => runInFile(db, nextOpenJob(left))),
      now: () => Promise.resolve(now()),
    });
    if (chosen === undefined) return undefined;
    const { row, error } = chosen;
    if (error === undefined) await runPage(row);
    else await runBeside(db, "immediate", () => runInFile(db, failJob({ id: row.id, now: now(), error })));
    return runBeside(db, "deferred", () => jobOf(runInFile(db, getJob(row.id))));
  };
}

/** The page is read without a lock. Its change takes the place of the job first: of two processes, one makes it. */
function prepareRunPage(db: Database, now: () => number): (row: JobRow) => Promise<void> {
  const waiting = prepareWaitingPages(db);

  async function runWaiting(row: JobRow): Promise<void> {
    const at = now();
    const found = await waiting.find({ choice: jobWorkOf(row, at), now: at, from: waitingPlaceOf(row) });
    await runBeside(db, "immediate", () => {
      if (!runInFile(db, isJobAt(row))) return;
      const { pieces, next } = waiting.run(found, now());
      runInFile(db, stepJob({ row, next, now: now(), done: pieces.length, skipped: 0 }));
    });
  }

  async function changeStuck(row: JobRow, action: "retry" | "discard"): Promise<void> {
    const choice = jobWorkOf(row, now());
    const at = stuckPlaceOf(row);
    const page = await runBeside(db, "deferred", () =>
      runInFile(db, selectStuck({ choice: { ...choice, state: at.state }, after: at, limit: PAGE })),
    );
    await runBeside(db, "immediate", () => {
      if (!runInFile(db, isJobAt(row))) return;
      const became = changeInTime(page, (piece) => changePiece(db, action, { ...piece, now: now() }));
      const isFull = page.length === PAGE || became.length < page.length;
      const next = stuckAfter(choice, { at, page: page.slice(0, became.length), isFull });
      const count = (wanted: StuckChange): number => became.filter((each) => each === wanted).length;
      runInFile(db, stepJob({ row, next, now: now(), done: count("changed"), skipped: count("left") }));
    });
  }

  return (row) => (row.action === "run" ? runWaiting(row) : changeStuck(row, row.action));
}
