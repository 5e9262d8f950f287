import { setTimeout as sleep } from "node:timers/promises";
import type { StoreQuery } from "./queries/store-query.js";

/** How queries are run on one kind of database; each in a transaction, at the time `now` of the database. */
export interface QueryRunner {
  /** For messages. */
  database: string;
  pace: PagePace;
  read: <Value>(doing: string, query: () => StoreQuery<Value>) => Promise<Value>;
  readAt: <Value>(doing: string, query: (now: number) => StoreQuery<Value>) => Promise<Value>;
  write: <Value>(doing: string, query: (now: number) => StoreQuery<Value>) => Promise<Value>;
}

/** How a large change leaves room for deliveries. */
export interface PagePace {
  /** Rows of one transaction at most. */
  rows: number;
  /** Rows that are changed by the same statements. */
  together: number;
  /** A transaction changes no further rows then, whatever is left of its page, in milliseconds. */
  heldMs: number;
  /** Between two transactions, in milliseconds. */
  pauseMs: number;
  /** Time that never jumps, in milliseconds. */
  elapsed: () => number;
}

/** Changes rows in an open transaction until its time is over, at least the first of them. */
export function* changeInTime<Row, Change>(
  pace: PagePace,
  rows: readonly Row[],
  change: (rows: readonly Row[]) => StoreQuery<Change>,
): StoreQuery<{ changes: Change[]; looked: number }> {
  const until = pace.elapsed() + pace.heldMs;
  const changes: Change[] = [];
  let looked = 0;
  while (looked < rows.length && (looked === 0 || pace.elapsed() < until)) {
    changes.push(yield* change(rows.slice(looked, looked + pace.together)));
    looked = Math.min(rows.length, looked + pace.together);
  }
  return { changes, looked };
}

/** A change of many rows. Each page is read without a lock: the change looks at its rows again. */
interface PagedChange<Row, Change> {
  doing: string;
  /** Those after a row. */
  select: (after: Row | undefined, limit: number, now: number) => StoreQuery<Row[]>;
  change: (rows: readonly Row[], now: number) => StoreQuery<Change>;
}

/** Changes rows a small page at a time. Yields what the changes returned. */
export async function* changePages<Row, Change>(
  { readAt, write, pace }: QueryRunner,
  { doing, select, change }: PagedChange<Row, Change>,
): AsyncGenerator<Change> {
  let after: Row | undefined;
  for (let isLeft = true; isLeft;) {
    const page = await readAt(doing, (now) => select(after, pace.rows, now));
    if (page.length === 0) return;
    const { changes, looked } = await write(doing, (now) => changeInTime(pace, page, (rows) => change(rows, now)));
    yield* changes;
    isLeft = page.length === pace.rows || looked < page.length;
    after = page[looked - 1];
    if (isLeft && pace.pauseMs > 0) await sleep(pace.pauseMs);
  }
}
