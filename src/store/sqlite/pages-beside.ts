import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "better-sqlite3";
import { runBeside } from "./run-beside.js";

/** Rows of one transaction, for which a receiver waits. */
export const PAGE = 100;
/** A page of a job ends then, whatever is left of it: deliveries wait for the lock that it has. */
export const HELD_MS = 8;
/** Between two transactions, so that a receiver which waits for the database gets it. */
export const BETWEEN_PAGES_MS = 20;

/**
 * Pages of at most {@link PAGE} rows, each read after the last row of the page before. They are read without a lock: a
 * change looks at its row again.
 */
export async function* pagesBeside<Row>(
  db: Database,
  readPage: (after: Row | undefined) => Row[],
): AsyncGenerator<Row[]> {
  let after: Row | undefined;
  for (let isLeft = true; isLeft;) {
    const page = await runBeside(db, "deferred", () => readPage(after));
    if (page.length > 0) yield page;
    isLeft = page.length === PAGE;
    after = page.at(-1) ?? after;
    if (isLeft) await sleep(BETWEEN_PAGES_MS);
  }
}
