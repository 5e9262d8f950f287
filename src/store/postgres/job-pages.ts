import type { JobRow } from "../bulk-jobs.js";
import { PAGE_ROWS } from "./beside-receivers.js";

/** Of a job, one after the other at the same place; then it has failed. */
const MAX_FAILURES = 5;

/** So that the last of {@link MAX_FAILURES} pages has a row. */
const SMALLER_BY = 4;

/** What became of the last page of a job in this process. */
interface LastPage extends Pick<JobRow, "id" | "position"> {
  /** Failures in a row at the position. */
  failures: number;
  /** Rows of the next page. */
  rows: number;
}

/** How large the next page of a job is: smaller after one that failed or was cut, larger after one that went well. */
export class JobPages {
  #last: LastPage | undefined;

  rowsOf({ id }: JobRow): number {
    return this.#last?.id === id ? this.#last.rows : PAGE_ROWS;
  }

  noteDone(row: JobRow): void {
    this.#note(row, { failures: 0, rows: Math.min(PAGE_ROWS, this.rowsOf(row) * 2) });
  }

  /** Returns whether the job has failed for good. */
  noteFailed(row: JobRow): boolean {
    const { id, position } = row;
    // Another process may have gone on with the job, or this one after it had stopped waiting.
    const isSamePlace = this.#last?.id === id && this.#last.position === position;
    const failures = (isSamePlace ? (this.#last?.failures ?? 0) : 0) + 1;
    this.#note(row, { failures, rows: Math.max(1, Math.floor(this.rowsOf(row) / SMALLER_BY)) });
    return failures >= MAX_FAILURES;
  }

  #note({ id, position }: JobRow, page: Pick<LastPage, "failures" | "rows">): void {
    this.#last = { id, position, ...page };
  }
}
