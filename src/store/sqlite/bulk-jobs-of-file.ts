import { randomUUID } from "node:crypto";
import type { Database } from "better-sqlite3";
import { NOTE_HANDLER } from "../../base/note-handler.js";
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
import { prepareJobs } from "./operations/jobs.js";
import { prepareEndPiece, prepareRetryPiece } from "./operations/replan.js";
import { prepareRequestRetry } from "./operations/requested-retries.js";
import { prepareCountWaiting, prepareRunWork } from "./operations/run-now.js";
import { prepareCountStuck, prepareSelectStuck } from "./operations/stuck-work.js";
import { HELD_MS, PAGE } from "./pages-beside.js";
import { runBeside } from "./run-beside.js";

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
  const runWork = prepareRunWork(db);
  const select = prepareSelectStuck(db);
  const change = prepareChange(db);

  function runWaiting(row: JobRow): Promise<void> {
    return runBeside(db, "immediate", () => {
      if (!jobs.isAt(row)) return;
      const choice = jobWorkOf(row, now());
      const { pieces, next } = runWork({
        choice,
        now: now(),
        from: waitingPlaceOf(row),
        until: performance.now() + HELD_MS,
      });
      jobs.step({ row, next, now: now(), done: pieces.length, skipped: 0 });
    });
  }

  async function changeStuck(row: JobRow): Promise<void> {
    const { action } = row;
    const choice = jobWorkOf(row, now());
    const at = stuckPlaceOf(row);
    const page = await runBeside(db, "deferred", () => select({ choice, state: at.state, after: at, limit: PAGE }));
    await runBeside(db, "immediate", () => {
      if (!jobs.isAt(row)) return;
      const until = performance.now() + HELD_MS;
      let [looked, done] = [0, 0];
      for (const piece of page) {
        if (looked > 0 && performance.now() >= until) break;
        looked += 1;
        if (change(action, { ...piece, now: now() })) done += 1;
      }
      const isFull = page.length === PAGE || looked < page.length;
      const next = stuckAfter(choice, { at, page: page.slice(0, looked), isFull });
      jobs.step({ row, next, now: now(), done, skipped: looked - done });
    });
  }

  return (row) => (row.action === "run" ? runWaiting(row) : changeStuck(row));
}

/** Changes one piece of stuck work; false when there is nothing to change. */
function prepareChange(db: Database): (action: BulkJob["action"], piece: StuckPiece & { now: number }) => boolean {
  const retryPiece = prepareRetryPiece(db);
  const requestRetry = prepareRequestRetry(db);
  const endPiece = prepareEndPiece(db);
  return (action, piece) => {
    if (action === "discard") return endPiece(piece) > 0;
    return piece.handler === NOTE_HANDLER ? requestRetry(piece) : retryPiece(piece) > 0;
  };
}
