import { MINUTE } from "../base/duration.js";
import { errorMessage } from "../base/error-text.js";
import { isPigeonholeError } from "../base/error.js";
import { type BulkJob, type BulkJobs, type JobRow, jobWorkOf, placeAfter, placeOf, toBulkJob } from "./bulk-jobs.js";
import { chooseJob, failJob, getJob, isJobAt, stepJob } from "./queries/jobs.js";
import { changePieces, selectPieces } from "./queries/work-changes.js";
import { type PagePace, type QueryRunner, changeInTime } from "./query-runner.js";

/** A job has failed once its pages have failed at the same place for longer: a full disk or a lock may end sooner. */
const FAILS_FOR_MS = 2 * MINUTE;

/** However long that took, so many pages were tried; see {@link SMALLER_BY}. */
const MIN_FAILURES = 5;

/** So that the last of {@link MIN_FAILURES} pages has a row. */
const SMALLER_BY = 4;

/** Runs pages of jobs, the pages themselves on `pages`, where nobody waits for the answer. */
export function prepareRunJobPage(runner: QueryRunner, pages: QueryRunner): BulkJobs["runJobPage"] {
  const { read, readAt, write } = runner;
  const sizes = new JobPages(pages.pace);
  return async () => {
    const chosen = await readAt("looking for a job", chooseJob);
    if (chosen === undefined) return undefined;
    const { row } = chosen;
    const fail = async (error: string): Promise<void> =>
      void (await write("ending a job", (now) => failJob({ id: row.id, now, error })));
    try {
      if (chosen.error === undefined) await runPage(pages, row, sizes.rowsOf(row));
      else await fail(chosen.error);
      sizes.noteDone(row);
    } catch (error) {
      if (isPigeonholeError(error, "stopped") || !sizes.noteFailed(row)) throw error;
      // It would keep younger ones from their turn.
      await fail(errorMessage(error));
    }
    return jobOf(await read("reading a job", () => getJob(row.id)));
  };
}

export const jobOf = (row: JobRow | undefined): BulkJob | undefined => (row === undefined ? undefined : toBulkJob(row));

/** The page is read without a lock. Its change locks the job first: of two processes, one makes it. */
async function runPage({ readAt, write, pace }: QueryRunner, row: JobRow, limit: number): Promise<void> {
  const at = placeOf(row);
  const page = await readAt("listing work", (now) =>
    selectPieces(row.action, { choice: { ...jobWorkOf(row, now), state: at.state }, after: at, limit, now }),
  );
  await write("changing work", function* (now) {
    if (!(yield* isJobAt(row))) return;
    const { changes, looked } = yield* changeInTime(pace, page, (pieces) => changePieces(row.action, { pieces, now }));
    const isFull = page.length === limit || looked < page.length;
    const next = placeAfter(row, { at, page: page.slice(0, looked), isFull });
    const done = changes.reduce((sum, { changed }) => sum + changed.length, 0);
    yield* stepJob({ row, next, now, done, skipped: changes.reduce((sum, { skipped }) => sum + skipped, 0) });
  });
}

/** What became of the last page of a job in this process. */
interface LastPage extends Pick<JobRow, "id" | "position"> {
  /** Failures in a row at the position. */
  failures: number;
  /** When the first of them was, by `elapsed`. */
  failedSince: number;
  /** Rows of the next page. */
  rows: number;
}

/** How large the next page of a job is: smaller after one that failed or was cut, larger after one that went well. */
class JobPages {
  readonly #pace: PagePace;
  #last: LastPage | undefined;

  constructor(pace: PagePace) {
    this.#pace = pace;
  }

  rowsOf({ id }: JobRow): number {
    return this.#last?.id === id ? this.#last.rows : this.#pace.rows;
  }

  noteDone(row: JobRow): void {
    const { elapsed, rows } = this.#pace;
    this.#note(row, { failures: 0, failedSince: elapsed(), rows: Math.min(rows, this.rowsOf(row) * 2) });
  }

  /** Returns whether the job has failed for good. */
  noteFailed(row: JobRow): boolean {
    const { id, position } = row;
    const now = this.#pace.elapsed();
    // Another process may have gone on with the job, or this one after it had stopped waiting.
    const isSamePlace = this.#last?.id === id && this.#last.position === position;
    const before = isSamePlace ? (this.#last?.failures ?? 0) : 0;
    const failedSince = before > 0 ? (this.#last?.failedSince ?? now) : now;
    const rows = Math.max(1, Math.floor(this.rowsOf(row) / SMALLER_BY));
    this.#note(row, { failures: before + 1, failedSince, rows });
    return before + 1 >= MIN_FAILURES && now - failedSince > FAILS_FOR_MS;
  }

  #note({ id, position }: JobRow, page: Omit<LastPage, "id" | "position">): void {
    this.#last = { id, position, ...page };
  }
}
