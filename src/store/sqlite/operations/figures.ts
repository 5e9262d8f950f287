import type { Database } from "better-sqlite3";
import { joinEnded } from "../../ended-processes.js";
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
  toStoredStatus,
} from "../../figure-rows.js";
import { toFigureSeries } from "../../figure-series.js";
import type { FigureSeries, FiguresQuery, FiguresWrite, ReportedStatus } from "../../figures.js";
import { type HandlerTimes, type HandlerTimesQuery, stepsOf, toHandlerTimes } from "../../handler-times.js";

/** Adds what a process has to say to the rows of the open steps, and replaces its status. */
export function prepareWriteFigures(db: Database) {
  const read = db
    .prepare<[number, number], string>("SELECT figures FROM inbox_figure WHERE resolution = ? AND step = ?")
    .pluck();
  const write = db.prepare<FigureRow>(`
    INSERT INTO inbox_figure (resolution, step, figures) VALUES (:resolution, :step, :figures)
    ON CONFLICT (resolution, step) DO UPDATE SET figures = excluded.figures`);
  const drop = db.prepare<{ resolution: number; oldest: number; newest: number; limit: number }>(`
    DELETE FROM inbox_figure WHERE resolution = :resolution AND step IN (
      SELECT step FROM inbox_figure WHERE resolution = :resolution AND (step < :oldest OR step > :newest) LIMIT :limit)`);
  const writeStatus = prepareWriteStatus(db);

  return ({ process, now, figures, status, last }: FiguresWrite): void => {
    for (const { resolution, step, oldest, newest } of openStepsAt(now)) {
      write.run({ resolution, step, figures: addToRow(read.get(resolution, step), figures) });
      drop.run({ resolution, oldest, newest, limit: MAX_DROPPED_ROWS });
    }
    writeStatus({ process, now, status, last });
  };
}

function prepareWriteStatus(db: Database) {
  const write = db.prepare<StoredStatus & { process: string }>(`
    INSERT INTO inbox_process_status (process, at, status) VALUES (:process, :at, :status)
    ON CONFLICT (process) DO UPDATE SET at = excluded.at, status = excluded.status`);
  const remove = db.prepare<[string]>("DELETE FROM inbox_process_status WHERE process = ?");
  const drop = db.prepare<{ oldest: number; newest: number; joined: string }>(
    "DELETE FROM inbox_process_status WHERE (at < :oldest AND process <> :joined) OR at > :newest",
  );
  const readOne = db.prepare<[string], StoredStatus>("SELECT at, status FROM inbox_process_status WHERE process = ?");
  return ({ process, now, status, last }: Omit<FiguresWrite, "figures">): void => {
    if (status === undefined) remove.run(process);
    else write.run({ process, at: now, status: toStoredStatus(status) });
    drop.run({ ...keptStatuses(now), joined: JOINED });
    if (last !== undefined) write.run({ process: JOINED, ...joinEnded(readOne.get(JOINED), last, now) });
  };
}

function prepareReadRows(db: Database) {
  return db.prepare<{ resolution: number; first: number; before: number }, FigureRow>(`
    SELECT step, figures FROM inbox_figure WHERE resolution = :resolution AND step >= :first AND step < :before`);
}

/** Reads the steps of a range, of all processes together. */
export function prepareReadFigures(db: Database) {
  const select = prepareReadRows(db);
  return (query: FiguresQuery): FigureSeries => toFigureSeries(select.all(keptStepsOf(query)), query);
}

/** Adds up the runs in the chosen steps. */
export function prepareHandlerTimes(db: Database) {
  const select = prepareReadRows(db);
  return (query: HandlerTimesQuery): HandlerTimes[] => toHandlerTimes(select.all(stepsOf(query)), query);
}

/** Reads what the processes last said. */
export function prepareReadStatuses(db: Database) {
  const select = db.prepare<[], StoredStatus>("SELECT at, status FROM inbox_process_status ORDER BY at DESC, process");
  return (): ReportedStatus[] => select.all().map(fromStoredStatus);
}
