import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "better-sqlite3";
import { runBeside } from "./run-beside.js";

/** Rows of one transaction at most, for which a receiver waits: the commit writes and syncs some pages for each. */
export const PAGE = 25;
/** A transaction begins no further row then, whatever is left of its page: deliveries wait for the lock that it has. */
const HELD_MS = 3;
/** Between two transactions, so that a receiver which waits for the database gets it. */
export const BETWEEN_PAGES_MS = 10;

/** Changes rows in an open transaction until its time is over, at least one. Returns what their changes returned. */
export function changeInTime<Row, Change>(
  rows: readonly Row[],
  change: (row: Row) => Change,
  elapsed: () => number = () => performance.now(),
): Change[] {
  const until = elapsed() + HELD_MS;
  const changes: Change[] = [];
  for (const row of rows) {
    if (changes.length > 0 && elapsed() >= until) break;
    changes.push(change(row));
  }
  return changes;
}

/** How rows are read and changed. */
interface RowChanges<Row, Change> {
  /** At most {@link PAGE} rows, those after this one. */
  readPage: (after: Row | undefined) => Row[];
  change: (row: Row) => Change;
}

/**
 * Changes rows a small page at a time, each read after the last row that was changed. They are read without a lock: a
 * change looks at its row again. Yields what the changes of a page returned.
 */
export async function* changesBeside<Row, Change>(
  db: Database,
  { readPage, change }: RowChanges<Row, Change>,
): AsyncGenerator<Change[]> {
  let after: Row | undefined;
  for (let isLeft = true; isLeft;) {
    const page = await runBeside(db, "deferred", () => readPage(after));
    if (page.length === 0) return;
    const changes = await runBeside(db, "immediate", () => changeInTime(page, change));
    yield changes;
    isLeft = page.length === PAGE || changes.length < page.length;
    after = page[changes.length - 1];
    if (isLeft) await sleep(BETWEEN_PAGES_MS);
  }
}
