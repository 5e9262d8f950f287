import { isoTime } from "../../base/iso-time.js";
import type { StoreCounts } from "../inbox-view.js";
import { type WorkState, WORK_STATE, isOpen, isWaiting } from "../state-words.js";
import { listPaused } from "./handlers.js";
import { type StoreQuery, readFirst, readRows, run } from "./store-query.js";

/** What an empty store counts. */
export const NO_WORK: StoreCounts = {
  pending: 0,
  retrying: 0,
  running: 0,
  dead: 0,
  parked: 0,
  done: 0,
  oldestOpenReceivedAt: null,
  oldestDueAt: null,
  newestReceivedAt: null,
  pendingByHandler: {},
};

/** Work of one handler in one state, and its oldest event. */
interface WorkGroup {
  handler: string;
  state: Exclude<WorkState, "done" | "discarded">;
  rows: number;
  dueAt: number | null;
  oldestSeq: number;
}

/** Counts the work that is not done, however many events are stored, and the runs that were. */
export function* countStoredWork(now: number): StoreQuery<StoreCounts> {
  const groups = yield* readRows<WorkGroup>(
    `SELECT w.handler, ${WORK_STATE} AS state, count(*) AS rows, min(w.due_at) AS "dueAt", min(w.seq) AS "oldestSeq"
     FROM pigeonhole.open_work AS w GROUP BY 1, 2`,
  );
  const paused = new Set((yield* listPaused()).map(({ handler }) => handler));
  const counts = { ...NO_WORK, done: yield* countDone() };
  const pendingByHandler = new Map<string, number>();
  let oldestDueAt: number | undefined;
  for (const { handler, state, rows, dueAt } of groups) {
    counts[state] += rows;
    if (!isWaiting(state)) continue;
    pendingByHandler.set(handler, (pendingByHandler.get(handler) ?? 0) + rows);
    if (dueAt !== null && dueAt <= now && !paused.has(handler)) oldestDueAt = Math.min(dueAt, oldestDueAt ?? dueAt);
  }
  const open = groups.filter(({ state }) => isOpen(state)).map(({ oldestSeq }) => oldestSeq);
  return {
    ...counts,
    oldestDueAt: isoTime(oldestDueAt),
    oldestOpenReceivedAt: yield* readReceivedAt("WHERE seq = :seq", {
      seq: Math.min(...open, Number.MAX_SAFE_INTEGER),
    }),
    newestReceivedAt: yield* readReceivedAt("ORDER BY seq DESC LIMIT 1"),
    pendingByHandler: Object.fromEntries(pendingByHandler),
  };
}

function* readReceivedAt(which: string, values: object = {}): StoreQuery<string | null> {
  const select = `SELECT received_at AS at FROM pigeonhole.inbox_event ${which}`;
  return isoTime((yield* readFirst<{ at: number }>(select, values))?.at);
}

/** Rows of `inbox_done_count` are added up when there are so many. On SQLite there is one. */
const FOLDED_ROWS = 1_000;

/** Of two processes that fold at once, each adds up what it has deleted. */
const FOLD = `
  WITH gone AS (DELETE FROM pigeonhole.inbox_done_count RETURNING done)
  INSERT INTO pigeonhole.inbox_done_count (done) SELECT sum(done) FROM gone HAVING sum(done) > 0`;

/** Runs settled as done since the database was created. */
function* countDone(): StoreQuery<number> {
  const counted = yield* readFirst<{ done: number; rows: number }>(
    "SELECT coalesce(sum(done), 0) AS done, count(*) AS rows FROM pigeonhole.inbox_done_count",
  );
  if ((counted?.rows ?? 0) > FOLDED_ROWS) yield* run(FOLD, {});
  return counted?.done ?? 0;
}
