import type { Database } from "better-sqlite3";
import type { StoreCounts } from "../../inbox-view.js";
import { type CountedWork, countGroups, sumCounts } from "../../queries/counts.js";
import { type StoreQuery, readFirst } from "../../queries/store-query.js";

/**
 * Rows of work that are counted at once, in a few milliseconds. Deliveries wait only for that long, whatever the
 * backlog.
 */
const PAGE_ROWS = 20_000;

/** The piece of work at which a page ends. */
export interface CountedTo {
  state: string;
  seq: number;
  handler: string;
}

export interface CountRequest {
  /** Where the page before ended; undefined for the first. */
  after?: CountedTo;
  /** One page for all that is left, however long it takes. @default false */
  isWhole?: boolean;
}

/** Part of the counts. `next`: where the next page begins; undefined on the last. */
export interface CountPage extends CountedWork {
  next: CountedTo | undefined;
}

const START: CountedTo = { state: "", seq: 0, handler: "" };
const END: CountedTo = { state: "~", seq: 0, handler: "" };
const AFTER = `inbox_work AS w INDEXED BY inbox_work_open
  WHERE w.state <> 'done' AND (w.state, w.seq, w.handler) > (:state, :seq, :handler)`;
const SELECT_END = `
  SELECT w.state, w.seq, w.handler FROM ${AFTER} ORDER BY w.state, w.seq, w.handler LIMIT 1 OFFSET ${PAGE_ROWS - 1}`;
const PAGE = `${AFTER} AND (w.state, w.seq, w.handler) <= (:endState, :endSeq, :endHandler)`;

/** Counts the work that is not done, a page at a time. */
export function* countPage({ after = START, isWhole = false }: CountRequest): StoreQuery<CountPage> {
  const next = isWhole ? undefined : yield* readFirst<CountedTo>(SELECT_END, after);
  const end = next ?? END;
  const ends = { endState: end.state, endSeq: end.seq, endHandler: end.handler };
  const counted = yield* countGroups(PAGE, { ...after, ...ends });
  const done = yield* readFirst<{ value: number }>("SELECT value FROM inbox_counter WHERE name = 'done'");
  return { ...counted, done: done?.value ?? 0, next };
}

/** All pages, each in a transaction of its own. */
export async function countPageByPage(
  count: (request: CountRequest) => Promise<CountPage>,
  now: number,
): Promise<StoreCounts> {
  const pages = [await count({})];
  for (let after = pages[0]?.next; after !== undefined; after = pages.at(-1)?.next) pages.push(await count({ after }));
  return sumCounts(pages, now);
}

/** Adds to the number of runs done. Call it once per transaction, for all settlements in it. */
export function prepareAddDone(db: Database) {
  const add = db.prepare("UPDATE inbox_counter SET value = value + :done WHERE name = 'done'");
  return (done: number): void => {
    if (done > 0) add.run({ done });
  };
}
