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
import type { DiskUse, FigureSeries, FiguresQuery, FiguresWrite, ReportedStatus } from "../../figures.js";
import { type HandlerTimes, type HandlerTimesQuery, stepsOf, toHandlerTimes } from "../../handler-times.js";
import { LOCKED } from "../advisory-lock.js";
import type { Sql } from "../sql.js";
import type { NodeLock } from "./recover.js";

/**
 * One process adds at a time. One that stands still does not keep the lock: the server ends its transaction before
 * others have waited for as long as they may.
 */
const LOCK = `
  SELECT pg_advisory_xact_lock(:lockClass, :lock), set_config('idle_in_transaction_session_timeout', '1s', true)`;

const WRITE = `
  INSERT INTO pigeonhole.inbox_figure (resolution, step, figures) VALUES (:resolution, :step, :figures)
  ON CONFLICT (resolution, step) DO UPDATE SET figures = excluded.figures`;

const DROP = `
  DELETE FROM pigeonhole.inbox_figure WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM pigeonhole.inbox_figure WHERE resolution = :resolution AND (step < :oldest OR step > :newest)
    LIMIT :limit))`;

const WRITE_STATUS = `
  INSERT INTO pigeonhole.inbox_process_status (process, at, status) VALUES (:process, :at, :status)
  ON CONFLICT (process) DO UPDATE SET at = excluded.at, status = excluded.status`;

const DROP_STATUSES = `
  DELETE FROM pigeonhole.inbox_process_status WHERE (at < :oldest AND process <> :joined) OR at > :newest`;

/** Adds what a process has to say to the rows of the open steps, and replaces its status. */
export async function writeFigures(sql: Sql, { lockClass }: NodeLock, write: FiguresWrite): Promise<void> {
  const { now, figures } = write;
  await sql.run(LOCK, { lockClass, lock: LOCKED.figures });
  for (const { resolution, step, oldest, newest } of openStepsAt(now)) {
    const row = await sql.row<Pick<FigureRow, "figures">>(
      "SELECT figures FROM pigeonhole.inbox_figure WHERE resolution = :resolution AND step = :step",
      { resolution, step },
    );
    await sql.run(WRITE, { resolution, step, figures: addToRow(row?.figures, figures) });
    await sql.run(DROP, { resolution, oldest, newest, limit: MAX_DROPPED_ROWS });
  }
  await writeStatus(sql, write);
}

async function writeStatus(sql: Sql, { process, now, status, last }: FiguresWrite): Promise<void> {
  if (status === undefined)
    await sql.run("DELETE FROM pigeonhole.inbox_process_status WHERE process = :process", { process });
  else await sql.run(WRITE_STATUS, { process, at: now, status: toStoredStatus(status) });
  await sql.run(DROP_STATUSES, { ...keptStatuses(now), joined: JOINED });
  if (last === undefined) return;
  const joined = await sql.row<StoredStatus>(
    "SELECT at, status FROM pigeonhole.inbox_process_status WHERE process = :joined",
    { joined: JOINED },
  );
  await sql.run(WRITE_STATUS, { process: JOINED, ...joinEnded(joined, last, now) });
}

const READ_ROWS = `
  SELECT step, figures FROM pigeonhole.inbox_figure
  WHERE resolution = :resolution AND step >= :first AND step < :before`;

/** Reads the steps of a range, of all processes together. */
export async function readFigures(sql: Sql, query: FiguresQuery): Promise<FigureSeries> {
  return toFigureSeries(await sql.rows<FigureRow>(READ_ROWS, keptStepsOf(query)), query);
}

/** Adds up the runs in the chosen steps. */
export async function readHandlerTimes(sql: Sql, query: HandlerTimesQuery): Promise<HandlerTimes[]> {
  return toHandlerTimes(await sql.rows<FigureRow>(READ_ROWS, stepsOf(query)), query);
}

/** Reads what the processes last said. */
export async function readStatuses(sql: Sql): Promise<ReportedStatus[]> {
  const rows = await sql.rows<StoredStatus>(
    "SELECT at, status FROM pigeonhole.inbox_process_status ORDER BY at DESC, process",
  );
  return rows.map(fromStoredStatus);
}

/** What the tables and their indexes take. What is free is known to the server alone. */
export async function readTableSizes(sql: Sql): Promise<DiskUse> {
  const row = await sql.row<{ bytes: number }>(`
    SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint AS bytes FROM pg_class
    WHERE relkind = 'r' AND relnamespace = (
      SELECT relnamespace FROM pg_class WHERE oid = 'pigeonhole.inbox_event'::regclass)`);
  return { usedBytes: row?.bytes, freeBytes: undefined };
}
