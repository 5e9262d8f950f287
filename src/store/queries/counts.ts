import type { StoreCounts } from "../inbox-view.js";
import { type WorkState, WORK_STATE, isOpen, isWaiting } from "../state-words.js";
import { listPaused } from "./handlers.js";
import { type StoreQuery, readFirst, readRows } from "./store-query.js";

/** Work of one handler in one state, and when the oldest event of it was received. */
interface WorkGroup {
  handler: string;
  state: Exclude<WorkState, "done" | "discarded">;
  rows: number;
  /** Null for work of a paused handler. */
  dueAt: number | null;
  oldestSeq: number;
  oldestReceivedAt: number | undefined;
}

/** What was counted of the work, or of a part of it. */
export interface CountedWork {
  groups: readonly WorkGroup[];
  /** Runs settled as done since the database was created. */
  done: number;
  /** When the newest event was received; undefined without one. */
  newestReceivedAt: number | undefined;
}

/** Counts the work that is not done and that `from`, of FROM and WHERE, has; however many events are stored. */
export function* countGroups(from: string, values: object = {}): StoreQuery<Omit<CountedWork, "done">> {
  const groups = yield* readRows<Omit<WorkGroup, "oldestReceivedAt">>(
    `SELECT w.handler, ${WORK_STATE} AS state, count(*) AS rows, min(w.due_at) AS "dueAt", min(w.seq) AS "oldestSeq"
     FROM ${from} GROUP BY 1, 2`,
    values,
  );
  const paused = new Set((yield* listPaused()).map(({ handler }) => handler));
  const received = yield* readRows<{ seq: number; at: number }>(
    "SELECT seq, received_at AS at FROM pigeonhole.inbox_event WHERE seq = ANY(:seqs)",
    { seqs: groups.map(({ oldestSeq }) => oldestSeq) },
  );
  const receivedAts = new Map(received.map(({ seq, at }) => [seq, at]));
  const newest = yield* readFirst<{ at: number }>(
    "SELECT received_at AS at FROM pigeonhole.inbox_event ORDER BY seq DESC LIMIT 1",
  );
  return {
    groups: groups.map((group) => ({
      ...group,
      dueAt: paused.has(group.handler) ? null : group.dueAt,
      oldestReceivedAt: receivedAts.get(group.oldestSeq),
    })),
    newestReceivedAt: newest?.at,
  };
}

/** The counts of all parts. What was settled between two of them may be counted in either, in both or in none. */
export function sumCounts(parts: readonly CountedWork[], now: number): StoreCounts {
  const groups = parts.flatMap((part) => part.groups);
  const open = groups.filter(({ state }) => isOpen(state));
  const counts = { pending: 0, retrying: 0, running: 0, dead: 0, parked: 0 };
  const pendingByHandler = new Map<string, number>();
  let oldestDueAt: number | undefined;
  for (const { handler, state, rows, dueAt } of groups) {
    counts[state] += rows;
    if (!isWaiting(state)) continue;
    pendingByHandler.set(handler, (pendingByHandler.get(handler) ?? 0) + rows);
    if (dueAt !== null && dueAt <= now) oldestDueAt = Math.min(dueAt, oldestDueAt ?? dueAt);
  }
  return {
    ...counts,
    done: parts.at(-1)?.done ?? 0,
    oldestOpenReceivedAt: open.toSorted((one, other) => one.oldestSeq - other.oldestSeq)[0]?.oldestReceivedAt,
    oldestDueAt,
    newestReceivedAt: parts.at(-1)?.newestReceivedAt,
    pendingByHandler: Object.fromEntries(pendingByHandler),
  };
}
