import type { Database } from "better-sqlite3";
import type { StoreCounts } from "../../inbox-view.js";
import type { WorkState } from "../../work-state.js";
import { OPEN } from "./open-work.js";
import { listPaused } from "../../queries/handlers.js";
import { runInFile } from "../run-in-file.js";

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

/** Work of one handler in one state, and when the oldest event of it was received. */
interface Group {
  handler: string;
  state: Exclude<WorkState, "done">;
  rows: number;
  /** Null for work of a paused handler. */
  dueAt: number | null;
  oldestSeq: number;
  oldestReceivedAt: number | undefined;
}

export interface CountRequest {
  /** Where the page before ended; undefined for the first. */
  after?: CountedTo;
  /** One page for all that is left, however long it takes. @default false */
  isWhole?: boolean;
}

/** Part of the counts. */
export interface CountPage {
  groups: readonly Group[];
  /** Runs settled as done since the database was created. */
  done: number;
  /** When the newest event was received; undefined without one. */
  newestReceivedAt: number | undefined;
  /** Where the next page begins; undefined on the last. */
  next: CountedTo | undefined;
}

const START: CountedTo = { state: "", seq: 0, handler: "" };
const END: CountedTo = { state: "~", seq: 0, handler: "" };
const AFTER = "(state, seq, handler) > (:state, :seq, :handler)";

/** Counts the work that is not done, a page at a time. The number of stored events does not matter. */
export function prepareCountPage(db: Database) {
  const selectEnd = db.prepare<CountedTo, CountedTo>(`
    SELECT state, seq, handler FROM inbox_work INDEXED BY inbox_work_open WHERE ${OPEN} AND ${AFTER}
    ORDER BY state, seq, handler LIMIT 1 OFFSET ${PAGE_ROWS - 1}`);
  const countRows = db.prepare<object, Omit<Group, "oldestReceivedAt">>(`
    SELECT handler, state, count(*) AS rows, min(due_at) AS dueAt, min(seq) AS oldestSeq
    FROM inbox_work INDEXED BY inbox_work_open
    WHERE ${OPEN} AND ${AFTER} AND (state, seq, handler) <= (:endState, :endSeq, :endHandler)
    GROUP BY handler, state`);
  const selectReceivedAt = db
    .prepare<{ seq: number }, number>("SELECT received_at FROM inbox_event WHERE seq = :seq")
    .pluck();
  const readNewest = db.prepare<[], number>("SELECT received_at FROM inbox_event ORDER BY seq DESC LIMIT 1").pluck();
  const readDone = db.prepare<[], number>("SELECT value FROM inbox_counter WHERE name = 'done'").pluck();

  return ({ after = START, isWhole = false }: CountRequest): CountPage => {
    const next = isWhole ? undefined : selectEnd.get(after);
    const end = next ?? END;
    const ends = { endState: end.state, endSeq: end.seq, endHandler: end.handler };
    const groups = countRows.all({ ...after, ...ends });
    const paused = new Set(runInFile(db, listPaused()).map(({ handler }) => handler));
    return {
      groups: groups.map((group) => ({
        ...group,
        dueAt: paused.has(group.handler) ? null : group.dueAt,
        oldestReceivedAt: selectReceivedAt.get({ seq: group.oldestSeq }),
      })),
      done: readDone.get() ?? 0,
      newestReceivedAt: readNewest.get(),
      next,
    };
  };
}

/** All at once. */
export function prepareCounts(db: Database) {
  const countPage = prepareCountPage(db);
  return ({ now }: { now: number }): StoreCounts => sumCountPages([countPage({ isWhole: true })], now);
}

/** All pages, each in a transaction of its own. */
export async function countPageByPage(
  countPage: (request: CountRequest) => Promise<CountPage>,
  now: number,
): Promise<StoreCounts> {
  const pages = [await countPage({})];
  for (let after = pages[0]?.next; after !== undefined; after = pages.at(-1)?.next) {
    pages.push(await countPage({ after }));
  }
  return sumCountPages(pages, now);
}

/** What was settled between two pages may be counted in either, in both or in none. */
function sumCountPages(pages: readonly CountPage[], now: number): StoreCounts {
  const groups = pages.flatMap((page) => page.groups);
  const oldest = (state: Group["state"]): number | undefined =>
    groups
      .filter((group) => group.state === state)
      .reduce<Group | undefined>(
        (first, group) => (first && first.oldestSeq <= group.oldestSeq ? first : group),
        undefined,
      )?.oldestReceivedAt;
  const counts = { pending: 0, leased: 0, dead: 0, parked: 0 };
  const pendingByHandler = new Map<string, number>();
  let oldestDueAt: number | undefined;
  for (const { handler, state, rows, dueAt } of groups) {
    counts[state] += rows;
    if (state !== "pending") continue;
    pendingByHandler.set(handler, (pendingByHandler.get(handler) ?? 0) + rows);
    if (dueAt !== null && dueAt <= now) oldestDueAt = Math.min(dueAt, oldestDueAt ?? dueAt);
  }
  return {
    ...counts,
    done: pages.at(-1)?.done ?? 0,
    oldestPendingReceivedAt: oldest("pending"),
    oldestLeasedReceivedAt: oldest("leased"),
    oldestDueAt,
    newestReceivedAt: pages.at(-1)?.newestReceivedAt,
    pendingByHandler: Object.fromEntries(pendingByHandler),
  };
}

/** Adds to the number of runs done. Call it once per transaction, for all settlements in it. */
export function prepareAddDone(db: Database) {
  const add = db.prepare("UPDATE inbox_counter SET value = value + :done WHERE name = 'done'");
  return (done: number): void => {
    if (done > 0) add.run({ done });
  };
}
