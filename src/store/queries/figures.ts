import { DAY, HOUR } from "../../base/duration.js";
import { LIMITS } from "../../protocol/limits.js";
import { type FigureRow, JOINED, addToRow, keptStepsOf, stepAt } from "../figure-rows.js";
import { toFigureSeries } from "../figure-series.js";
import {
  type FigureSeries,
  type FiguresQuery,
  type FiguresWrite,
  LONG_STEPS,
  type ProcessStatus,
  type ReportedStatus,
  SHORT_STEPS,
} from "../figures.js";
import { type HandlerTimes, type HandlerTimesQuery, stepsOf, toHandlerTimes } from "../handler-times.js";
import { LIVES_MS, failuresInARow, failuresLeft } from "../process-state.js";
import { type StoreQuery, readFirst, readRows, run } from "./store-query.js";

/** Most rows that are dropped for their age at once: a clock that is ahead for a moment drops little. */
const MAX_DROPPED_ROWS = 20;

/** Rows that are further ahead come from a clock that was wrong. */
const MAX_AHEAD_MS = DAY;
/** A process that has not reported for so long is forgotten. */
const STATUS_KEPT_MS = HOUR;

const DROP = `
  DELETE FROM pigeonhole.inbox_figure WHERE resolution = :resolution AND step IN (
    SELECT step FROM pigeonhole.inbox_figure WHERE resolution = :resolution AND (step < :oldest OR step > :newest)
    LIMIT :limit)`;

/** Adds what a process has to say to the rows of the open steps, and replaces its status. In one transaction. */
export function* addFigures({ figures, ...write }: FiguresWrite): StoreQuery<void> {
  for (const { stepMs: resolution, keptMs } of [SHORT_STEPS, LONG_STEPS]) {
    const step = stepAt(write.now, resolution);
    const row = yield* readFirst<Pick<FigureRow, "figures">>(
      "SELECT figures FROM pigeonhole.inbox_figure WHERE resolution = :resolution AND step = :step",
      { resolution, step },
    );
    yield* run(
      `INSERT INTO pigeonhole.inbox_figure (resolution, step, figures) VALUES (:resolution, :step, :figures)
       ON CONFLICT (resolution, step) DO UPDATE SET figures = excluded.figures`,
      { resolution, step, figures: addToRow(row?.figures, figures) },
    );
    const kept = { oldest: step - keptMs, newest: step + MAX_AHEAD_MS };
    yield* run(DROP, { resolution, ...kept, limit: MAX_DROPPED_ROWS });
  }
  yield* writeStatus(write);
}

function* writeStatus({ process, now, status, last }: Omit<FiguresWrite, "figures">): StoreQuery<void> {
  if (status === undefined)
    yield* run("DELETE FROM pigeonhole.inbox_process_status WHERE process = :process", { process });
  else yield* replaceStatus(process, { at: now, status: JSON.stringify(status) });
  // Of older ones, the one that is joined stays.
  yield* run(
    "DELETE FROM pigeonhole.inbox_process_status WHERE (at < :oldest AND process <> :joined) OR at > :newest",
    { oldest: now - STATUS_KEPT_MS, newest: now + STATUS_KEPT_MS, joined: JOINED },
  );
  if (last === undefined) return;
  const joined = yield* readFirst<StoredStatus>(
    "SELECT at, status FROM pigeonhole.inbox_process_status WHERE process = :joined",
    { joined: JOINED },
  );
  yield* replaceStatus(JOINED, joinEnded(joined, last, now));
}

/**
 * The one status of all processes that have ended, once another one has: so that the next process goes on counting the
 * answers where they stopped. `joined` is the one before.
 */
function joinEnded(joined: StoredStatus | undefined, last: ProcessStatus, now: number): StoredStatus {
  const all = joined === undefined ? [last] : [fromStoredStatus(joined), last];
  // A clock that was ahead must not let later answers look older.
  const latest = (times: readonly (number | undefined)[]): number | undefined => {
    const known = times.filter((time) => time !== undefined);
    return known.length === 0 ? undefined : Math.min(now, Math.max(...known));
  };
  const failureTimes = failuresLeft(all).map((time) => Math.min(now, time));
  const status = JSON.stringify({
    ...last,
    process: JOINED,
    state: "stopped",
    failuresInARow: failuresInARow(all),
    failureTimes: failureTimes.toSorted((one, other) => one - other).slice(-LIMITS.disableAfterFailures),
    lastSuccessAt: latest(all.map(({ lastSuccessAt }) => lastSuccessAt)),
    lastAcceptedAt: latest(all.map(({ lastAcceptedAt }) => lastAcceptedAt)),
    waiting: 0,
    runningCount: 0,
    running: [],
    waitsFor: {},
  } satisfies ProcessStatus);
  // None that lives.
  return { at: now - LIVES_MS, status };
}

function replaceStatus(process: string, status: StoredStatus): StoreQuery<number> {
  return run(
    `INSERT INTO pigeonhole.inbox_process_status (process, at, status) VALUES (:process, :at, :status)
     ON CONFLICT (process) DO UPDATE SET at = excluded.at, status = excluded.status`,
    { process, ...status },
  );
}

function selectSteps(range: { resolution: number; first: number; before: number }): StoreQuery<FigureRow[]> {
  return readRows(
    `SELECT step, figures FROM pigeonhole.inbox_figure
     WHERE resolution = :resolution AND step >= :first AND step < :before`,
    range,
  );
}

/** Reads the steps of a range, of all processes together. */
export function* readFigures(query: FiguresQuery): StoreQuery<FigureSeries> {
  return toFigureSeries(yield* selectSteps(keptStepsOf(query)), query);
}

export function* readHandlerTimes(query: HandlerTimesQuery): StoreQuery<HandlerTimes[]> {
  return toHandlerTimes(yield* selectSteps(stepsOf(query)), query);
}

export function* readStatuses(): StoreQuery<ReportedStatus[]> {
  const rows = yield* readRows<StoredStatus>(
    "SELECT at, status FROM pigeonhole.inbox_process_status ORDER BY at DESC, process",
  );
  return rows.map(fromStoredStatus);
}

interface StoredStatus {
  at: number;
  status: string;
}

function fromStoredStatus({ at, status }: StoredStatus): ReportedStatus {
  return { ...(JSON.parse(status) as ProcessStatus), reportedAt: at };
}
