import { MINUTE } from "../base/duration.js";
import { errorMessage } from "../base/error-text.js";
import { isPigeonholeError } from "../base/error.js";
import {
  BEFORE_ALL,
  type BulkJob,
  type BulkJobs,
  type JobAction,
  type JobRow,
  type WorkPiece,
  jobWorkOf,
  toBulkJob,
  whyUnknown,
} from "./bulk-jobs.js";
import { chooseJob, failJob, getJob, isJobAt, stepJob } from "./queries/jobs.js";
import { changePieces, selectPieces } from "./queries/work-changes.js";
import { type PagePace, type QueryRunner, changeInTime } from "./query-runner.js";

/** A job has failed once its pages have failed at the same place for longer: a full disk or a lock may end sooner. */
const FAILS_FOR_MS = 2 * MINUTE;

/** However long that took, so many pages were tried. */
const MIN_FAILURES = 5;

/** Runs pages of jobs, the pages themselves on `pages`, where nobody waits for the answer. */
export function prepareRunJobPage(runner: QueryRunner, pages: QueryRunner): BulkJobs["runJobPage"] {
  const { read, write } = runner;
  const hasFailed = prepareHasFailed(pages.pace);
  return async () => {
    const row = await read("looking for a job", chooseJob);
    if (row === undefined) return undefined;
    const fail = async (error: string): Promise<void> =>
      void (await write("ending a job", (now) => failJob({ id: row.id, now, error })));
    const unknown = whyUnknown(row);
    try {
      if (unknown === undefined) await runPage(pages, row);
      else await fail(unknown);
    } catch (error) {
      if (isPigeonholeError(error, "stopped") || !hasFailed(row)) throw error;
      // It would keep younger ones from their turn.
      await fail(errorMessage(error));
    }
    return jobOf(await read("reading a job", () => getJob(row.id)));
  };
}

export const jobOf = (row: JobRow | undefined): BulkJob | undefined => (row === undefined ? undefined : toBulkJob(row));

/** The page is read without a lock. Its change locks the job first: of two processes, one makes it. */
async function runPage({ readAt, write, pace }: QueryRunner, row: JobRow<JobAction>): Promise<void> {
  const after = row.position === null ? BEFORE_ALL : (JSON.parse(row.position) as WorkPiece);
  const page = await readAt("listing work", (now) =>
    selectPieces(row.action, { choice: jobWorkOf(row, now), after, limit: pace.rows, now }),
  );
  await write("changing work", function* (now) {
    if (!(yield* isJobAt(row))) return;
    const { changes, looked } = yield* changeInTime(pace, page, (pieces) => changePieces(row.action, { pieces, now }));
    const last = page.length === pace.rows || looked < page.length ? page[looked - 1] : undefined;
    const next = last && { seq: last.seq, handler: last.handler };
    yield* stepJob({ row, next, now, done: changes.flat().length });
  });
}

/** Notes a page that failed; returns whether the job has failed for good: all pages at its place have, for too long. */
function prepareHasFailed({ elapsed }: PagePace): (row: JobRow) => boolean {
  let last = { place: "", failures: 0, since: 0 };
  return ({ id, position }) => {
    const place = `${id} ${position}`;
    if (last.place !== place) last = { place, failures: 0, since: elapsed() };
    last.failures += 1;
    return last.failures >= MIN_FAILURES && elapsed() - last.since > FAILS_FOR_MS;
  };
}
