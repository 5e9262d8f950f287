import { joinEnded } from "../ended-processes.js";
import {
  type FigureRow,
  JOINED,
  MAX_DROPPED_ROWS,
  type StoredStatus,
  addToRow,
  fromStoredStatus,
  keptStatuses,
  keptStepsOf,
  openStepsAt,
} from "../figure-rows.js";
import { toFigureSeries } from "../figure-series.js";
import type { FigureSeries, FiguresQuery, FiguresWrite, ReportedStatus } from "../figures.js";
import { type HandlerTimes, type HandlerTimesQuery, stepsOf, toHandlerTimes } from "../handler-times.js";
import { type StoreQuery, readFirst, readRows, run } from "./store-query.js";

const DROP = `
  DELETE FROM pigeonhole.inbox_figure WHERE resolution = :resolution AND step IN (
    SELECT step FROM pigeonhole.inbox_figure WHERE resolution = :resolution AND (step < :oldest OR step > :newest)
    LIMIT :limit)`;

/** Adds what a process has to say to the rows of the open steps, and replaces its status. In one transaction. */
export function* addFigures({ figures, ...write }: FiguresWrite): StoreQuery<void> {
  for (const { resolution, step, oldest, newest } of openStepsAt(write.now)) {
    const row = yield* readFirst<Pick<FigureRow, "figures">>(
      "SELECT figures FROM pigeonhole.inbox_figure WHERE resolution = :resolution AND step = :step",
      { resolution, step },
    );
    yield* run(
      `INSERT INTO pigeonhole.inbox_figure (resolution, step, figures) VALUES (:resolution, :step, :figures)
       ON CONFLICT (resolution, step) DO UPDATE SET figures = excluded.figures`,
      { resolution, step, figures: addToRow(row?.figures, figures) },
    );
    yield* run(DROP, { resolution, oldest, newest, limit: MAX_DROPPED_ROWS });
  }
  yield* writeStatus(write);
}

function* writeStatus({ process, now, status, last }: Omit<FiguresWrite, "figures">): StoreQuery<void> {
  if (status === undefined)
    yield* run("DELETE FROM pigeonhole.inbox_process_status WHERE process = :process", { process });
  else yield* replaceStatus(process, { at: now, status: JSON.stringify(status) });
  yield* run(
    "DELETE FROM pigeonhole.inbox_process_status WHERE (at < :oldest AND process <> :joined) OR at > :newest",
    { ...keptStatuses(now), joined: JOINED },
  );
  if (last === undefined) return;
  const joined = yield* readFirst<StoredStatus>(
    "SELECT at, status FROM pigeonhole.inbox_process_status WHERE process = :joined",
    { joined: JOINED },
  );
  yield* replaceStatus(JOINED, joinEnded(joined, last, now));
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
