import { MINUTE } from "../../base/duration.js";
import type { JobRow } from "../bulk-jobs.js";
import { PAGE_ROWS } from "./beside-receivers.js";

/** A job has failed once its pages have failed at the same place for longer: a full disk or a lock may end sooner. */
const FAILS_FOR_MS = 2 * MINUTE;

/** However long that took, so many pages were tried; see {@link SMALLER_BY}. */
const MIN_FAILURES = 5;

/** So that the last of {@link MIN_FAILURES} pages has a row. */
const SMALLER_BY = 4;

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
export class JobPages {
  readonly #elapsed: () => number;
  #last: LastPage | undefined;

  /** `elapsed`: time that never jumps, in milliseconds. */
  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  rowsOf({ id }: JobRow): number {
    return this.#last?.id === id ? this.#last.rows : PAGE_ROWS;
  }

  noteDone(row: JobRow): void {
    this.#note(row, { failures: 0, failedSince: this.#elapsed(), rows: Math.min(PAGE_ROWS, this.rowsOf(row) * 2) });
  }

  /** Returns whether the job has failed for good. */
  noteFailed(row: JobRow): boolean {
    const { id, position } = row;
    const now = this.#elapsed();
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
