import { randomUUID } from "node:crypto";
import type { Database } from "better-sqlite3";
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
import { type StuckChange, prepareChangeStuck } from "./operations/change-stuck.js";
import { prepareJobs } from "./operations/jobs.js";
import { prepareCountWaiting } from "./operations/run-now.js";
import { prepareCountStuck, prepareSelectStuck } from "./operations/stuck-work.js";
import { PAGE, changeInTime } from "./pages-beside.js";
import { runBeside } from "./run-beside.js";
import { prepareWaitingPages } from "./waiting-work-of-file.js";

interface JobsDeps {
  db: Database;
  now: () => number;
}

/** Jobs over work in a file beside its receiver. */
export function operateJobs({ db, now }: JobsDeps): BulkJobs {
  const jobs = prepareJobs(db);
  const countStuck = prepareCountStuck(db);
  const countWaiting = prepareCountWaiting(db);
  const runPage = prepareRunPage({ db, now });

  function countJob(job: Pick<BulkJob, "action" | "choice">): { events: number; work: number } {
    checkJob(job);
    const { action, choice } = job;
    return action === "run" ? countWaiting({ choice, now: now() }) : countStuck(choice);
  }

  return {
    countJob: (job) => runBeside(db, "deferred", () => countJob(job)),
    async createJob(job) {
      const createdAt = now();
      const { work: total } = await runBeside(db, "deferred", () => countJob(job));
      const row = newJobRow({ ...job, id: randomUUID(), createdAt, total });
      await runBeside(db, "immediate", () => jobs.create(row, KEPT_JOBS));
      return toBulkJob(row);
    },
    listJobs: (query) => runBeside(db, "deferred", () => jobs.list(jobLimit(query)).map(toBulkJob)),
    getJob: (id) => runBeside(db, "deferred", () => jobOf(jobs.get(id))),
    cancelJob: (id) => runBeside(db, "immediate", () => jobs.cancel(id, now())),
    async runJobPage() {
      const chosen = await chooseJob({
        nextOpen: (left) => runBeside(db, "deferred", () => jobs.nextOpen(left)),
        now: () => Promise.resolve(now()),
      });
      if (chosen === undefined) return undefined;
      const { row, error } = chosen;
      if (error === undefined) await runPage(row);
      else await runBeside(db, "immediate", () => jobs.fail({ id: row.id, now: now(), error }));
      return runBeside(db, "deferred", () => jobOf(jobs.get(row.id)));
    },
  };
}

const jobOf = (row: JobRow | undefined): BulkJob | undefined => (row === undefined ? undefined : toBulkJob(row));

/** The page is read without a lock. Its change takes the place of the job first: of two processes, one makes it. */
function prepareRunPage({ db, now }: JobsDeps): (row: JobRow) => Promise<void> {
  const jobs = prepareJobs(db);
  const waiting = prepareWaitingPages(db);
  const select = prepareSelectStuck(db);
  const change = prepareChangeStuck(db);

  async function runWaiting(row: JobRow): Promise<void> {
    const at = now();
    const found = await waiting.find({ choice: jobWorkOf(row, at), now: at, from: waitingPlaceOf(row) });
    await runBeside(db, "immediate", () => {
      if (!jobs.isAt(row)) return;
      const { pieces, next } = waiting.run(found, now());
      jobs.step({ row, next, now: now(), done: pieces.length, skipped: 0 });
    });
  }

  async function changeStuck(row: JobRow, action: "retry" | "discard"): Promise<void> {
    const choice = jobWorkOf(row, now());
    const at = stuckPlaceOf(row);
    const page = await runBeside(db, "deferred", () => select({ choice, state: at.state, after: at, limit: PAGE }));
    await runBeside(db, "immediate", () => {
      if (!jobs.isAt(row)) return;
      const became = changeInTime(page, (piece) => change(action, { ...piece, now: now() }));
      const isFull = page.length === PAGE || became.length < page.length;
      const next = stuckAfter(choice, { at, page: page.slice(0, became.length), isFull });
      const count = (wanted: StuckChange): number => became.filter((each) => each === wanted).length;
      jobs.step({ row, next, now: now(), done: count("changed"), skipped: count("left") });
    });
  }

  return (row) => (row.action === "run" ? runWaiting(row) : changeStuck(row, row.action));
}
