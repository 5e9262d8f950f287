import type { Database } from "better-sqlite3";
import {
  JOINED,
  MAX_DROPPED_ROWS,
  MAX_JOINED_STEPS,
  type OpenStep,
  type StoredRow,
  type StoredStatus,
  addToRow,
  closedBefore,
  fromStoredStatus,
  joinRows,
  keptStatuses,
  openStepsAt,
  toStoredStatus,
} from "../../figure-rows.js";
import { joinEnded } from "../../ended-processes.js";
import { stepsOfRange, toFigureSeries } from "../../figure-series.js";
import type { FigureSeries, FiguresQuery, FiguresWrite, ReportedStatus } from "../../figures.js";
import { fromStoredFigures } from "../../stored-figures.js";

interface Row extends StoredRow {
  process: string;
}

/** Adds what a process has to say to its rows, and replaces its status. */
export function prepareWriteFigures(db: Database) {
  const read = db
    .prepare<Omit<Row, "figures">, string>(
      "SELECT figures FROM inbox_figure WHERE resolution = :resolution AND step = :step AND process = :process",
    )
    .pluck();
  const write = db.prepare<Row>(`
    INSERT INTO inbox_figure (resolution, step, process, figures) VALUES (:resolution, :step, :process, :figures)
    ON CONFLICT (resolution, step, process) DO UPDATE SET figures = excluded.figures`);
  const hasRow = db
    .prepare<[number, number], number>("SELECT 1 FROM inbox_figure WHERE resolution = ? AND step = ? LIMIT 1")
    .pluck();
  const drops = ["step <= :oldest", "step > :newest"].map((isOver) =>
    db.prepare<Omit<OpenStep, "joins" | "step"> & { limit: number }>(`
      DELETE FROM inbox_figure WHERE (resolution, step, process) IN (
        SELECT resolution, step, process FROM inbox_figure WHERE resolution = :resolution AND ${isOver} LIMIT :limit)`),
  );
  const join = prepareJoin(db);
  const writeStatus = prepareWriteStatus(db);

  return ({ process, now, figures, status, last }: FiguresWrite): void => {
    for (const { joins, step, ...range } of openStepsAt(now)) {
      const { resolution } = range;
      if (joins && hasRow.get(resolution, step) === undefined) join(now);
      const row = read.get({ resolution, step, process });
      write.run({ resolution, step, process, figures: addToRow(row, figures) });
      for (const drop of drops) drop.run({ ...range, limit: MAX_DROPPED_ROWS });
    }
    writeStatus({ process, now, status, last });
  };
}

/** Makes one row of those of several processes, in steps that are closed. */
function prepareJoin(db: Database) {
  const list = db.prepare<{ before: number; limit: number }, StoredRow>(`
    SELECT resolution, step, figures FROM inbox_figure WHERE (resolution, step) IN (
      SELECT resolution, step FROM inbox_figure WHERE step + resolution <= :before
      GROUP BY resolution, step HAVING count(*) > 1 LIMIT :limit)`);
  const remove = db.prepare<[number, number]>("DELETE FROM inbox_figure WHERE resolution = ? AND step = ?");
  const add = db.prepare<Row>(
    "INSERT INTO inbox_figure (resolution, step, process, figures) VALUES (:resolution, :step, :process, :figures)",
  );
  return (now: number): void => {
    for (const row of joinRows(list.all({ before: closedBefore(now), limit: MAX_JOINED_STEPS }))) {
      remove.run(row.resolution, row.step);
      add.run({ ...row, process: JOINED });
    }
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

/** Reads the steps of a range, of all processes together. */
export function prepareReadFigures(db: Database) {
  const select = db.prepare<{ resolution: number; first: number; last: number }, StoredRow>(`
    SELECT resolution, step, figures FROM inbox_figure
    WHERE resolution = :resolution AND step BETWEEN :first AND :last`);
  return (query: FiguresQuery): FigureSeries => {
    const { stepMs, first, last } = stepsOfRange(query);
    const rows = select.all({ resolution: stepMs, first, last });
    return toFigureSeries(
      rows.map(({ step, figures }) => ({ step, figures: fromStoredFigures(figures) })),
      query,
    );
  };
}

/** Reads what the processes last said. */
export function prepareReadStatuses(db: Database) {
  const select = db.prepare<[], StoredStatus>("SELECT at, status FROM inbox_process_status ORDER BY at DESC, process");
  return (): ReportedStatus[] => select.all().map(fromStoredStatus);
}
