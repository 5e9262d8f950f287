import {
  JOINED,
  MAX_DROPPED_ROWS,
  MAX_JOINED_STEPS,
  type StoredRow,
  type StoredStatus,
  addToRow,
  fromStoredStatus,
  isKept,
  joinRows,
  keptStatuses,
  keptSteps,
  leftSteps,
  openStepsAt,
  toStoredStatus,
} from "../../figure-rows.js";
import { joinEnded } from "../../ended-processes.js";
import { stepsOfRange, toFigureSeries } from "../../figure-series.js";
import type {
  DiskUse,
  FigureSeries,
  FiguresQuery,
  FiguresWrite,
  ProcessStatus,
  ReportedStatus,
} from "../../figures.js";
import { fromStoredFigures } from "../../stored-figures.js";
import { LOCKED } from "../advisory-lock.js";
import type { Sql } from "../sql.js";
import type { NodeLock } from "./recover.js";

/** Until the transaction ends, nobody else takes what the process has. */
const READ_OPEN = `
  SELECT resolution, step, figures FROM pigeonhole.inbox_open_figure WHERE process = :process ORDER BY resolution FOR UPDATE`;

/** In place of what it had before, so that neither the table nor its index grows. */
const WRITE_OPEN = `
  INSERT INTO pigeonhole.inbox_open_figure (process, resolution, step, figures)
  SELECT :process, resolution, step, figures
  FROM unnest(:resolutions::bigint[], :steps::bigint[], :figures::text[]) AS given (resolution, step, figures)
  ON CONFLICT (process, resolution) DO UPDATE SET step = excluded.step, figures = excluded.figures`;

/** What another process takes at the same time is left to it. */
const TAKE_LEFT = `
  DELETE FROM pigeonhole.inbox_open_figure WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM pigeonhole.inbox_open_figure WHERE step > :newest OR (step + resolution <= :before AND process <> :joined)
    LIMIT :limit FOR UPDATE SKIP LOCKED))
  RETURNING resolution, step, figures`;

/**
 * A process that stands still does not keep the lock: the server ends its transaction before others have waited for as
 * long as they may.
 */
const LOCK_SUMS = `
  SELECT pg_advisory_xact_lock(:lockClass, :lock), set_config('idle_in_transaction_session_timeout', '1s', true)`;

const READ_CLOSED = `
  SELECT figures FROM pigeonhole.inbox_figure WHERE resolution = :resolution AND step = :step AND process = :joined`;

const CHANGE_CLOSED = `
  UPDATE pigeonhole.inbox_figure SET figures = :figures
  WHERE resolution = :resolution AND step = :step AND process = :joined`;

/** In place of a row that is too old: room of deleted rows is not used again before the next vacuum. */
const REPLACE_OLD = `
  UPDATE pigeonhole.inbox_figure SET step = :step, process = :joined, figures = :figures WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM pigeonhole.inbox_figure WHERE resolution = :resolution AND (step <= :oldest OR step > :newest)
    ORDER BY step LIMIT 1 FOR UPDATE SKIP LOCKED))`;

/** All but some, which are replaced next. */
const DROP_OLD = `
  DELETE FROM pigeonhole.inbox_figure WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM pigeonhole.inbox_figure WHERE resolution = :resolution AND (step <= :oldest OR step > :newest)
    ORDER BY step OFFSET :spare LIMIT :limit FOR UPDATE SKIP LOCKED))`;

const SPARE_ROWS = 5;

const ADD_CLOSED = `
  INSERT INTO pigeonhole.inbox_figure (resolution, step, process, figures) VALUES (:resolution, :step, :joined, :figures)`;

const WRITE_STATUS = `
  INSERT INTO pigeonhole.inbox_process_status (process, at, status) VALUES (:process, :at, :status)
  ON CONFLICT (process) DO UPDATE SET at = excluded.at, status = excluded.status`;

const DROP_STATUSES = `
  DELETE FROM pigeonhole.inbox_process_status WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM pigeonhole.inbox_process_status WHERE (at < :oldest AND process <> :joined) OR at > :newest
    FOR UPDATE SKIP LOCKED))`;

/** Of two processes that stop at once, the second one waits here until it sees what the first one wrote. */
const ADD_JOINED_STATUS = `
  INSERT INTO pigeonhole.inbox_process_status (process, at, status) VALUES (:process, :at, :status) ON CONFLICT DO NOTHING`;

const READ_JOINED_STATUS = `
  SELECT at, status FROM pigeonhole.inbox_process_status WHERE process = :process FOR UPDATE`;

/**
 * Adds what a process has to say to its rows of open steps, and replaces its status. Rows of steps that have ended are
 * added to the one row of the step.
 */
export async function writeFigures(sql: Sql, { lockClass }: NodeLock, write: FiguresWrite): Promise<void> {
  const ended = await writeOpen(sql, write);
  await writeStatus(sql, write);
  if (ended.length > 0) await sumEnded(sql, { lockClass, now: write.now, ended });
}

/** Returns what the process had written about steps that have ended. */
async function writeOpen(sql: Sql, { process, now, figures }: FiguresWrite): Promise<StoredRow[]> {
  const rows = await sql.rows<StoredRow>(READ_OPEN, { process });
  const open = openStepsAt(now);
  const isOpen = (row: StoredRow): boolean =>
    open.some(({ resolution, step }) => resolution === row.resolution && step === row.step);
  const texts = open.map(({ resolution }) =>
    addToRow(rows.find((row) => row.resolution === resolution && isOpen(row))?.figures, figures),
  );
  const written = open.map(({ resolution, step }, place) => ({ resolution, step, figures: texts[place] ?? "" }));
  await changeOpen(sql, process, written);
  return rows.filter((row) => !isOpen(row));
}

async function changeOpen(sql: Sql, process: string, rows: readonly StoredRow[]): Promise<void> {
  await sql.run(WRITE_OPEN, {
    process,
    resolutions: rows.map(({ resolution }) => resolution),
    steps: rows.map(({ step }) => step),
    figures: rows.map(({ figures }) => figures),
  });
}

async function writeStatus(sql: Sql, { process, now, status, last }: FiguresWrite): Promise<void> {
  if (status === undefined)
    await sql.run("DELETE FROM pigeonhole.inbox_process_status WHERE process = :process", { process });
  else await sql.run(WRITE_STATUS, { process, at: now, status: toStoredStatus(status) });
  await sql.run(DROP_STATUSES, { ...keptStatuses(now), joined: JOINED });
  if (last !== undefined) await joinStatus(sql, last, now);
}

async function joinStatus(sql: Sql, last: ProcessStatus, now: number): Promise<void> {
  const process = JOINED;
  if ((await sql.run(ADD_JOINED_STATUS, { process, ...joinEnded(undefined, last, now) })) > 0) return;
  const before = await sql.row<StoredStatus>(READ_JOINED_STATUS, { process });
  await sql.run(WRITE_STATUS, { process, ...joinEnded(before, last, now) });
}

interface EndedSteps {
  lockClass: number;
  now: number;
  ended: readonly StoredRow[];
}

/**
 * Adds them to what all processes together had in the last step that ended, of each length, and writes what they had in
 * the step before, once. One process at a time; it is the last that its transaction does.
 */
async function sumEnded(sql: Sql, { lockClass, now, ended }: EndedSteps): Promise<void> {
  await sql.run(LOCK_SUMS, { lockClass, lock: LOCKED.joining });
  const left = await sql.rows<StoredRow>(TAKE_LEFT, { ...leftSteps(now), joined: JOINED, limit: MAX_JOINED_STEPS });
  const rows = [...ended, ...left].filter((row) => isKept(row, now));
  const last = (await sql.rows<StoredRow>(READ_OPEN, { process: JOINED })).filter(({ resolution }) =>
    rows.some((row) => row.resolution === resolution),
  );
  const sums = joinRows([...last, ...rows]);
  const newest = sums.filter(({ resolution, step }) =>
    sums.every((other) => other.resolution !== resolution || other.step <= step),
  );
  await changeOpen(sql, JOINED, newest);
  for (const row of sums) if (!newest.includes(row)) await addToClosed(sql, row, now);
}

async function addToClosed(sql: Sql, row: StoredRow, now: number): Promise<void> {
  if (!isKept(row, now)) return;
  const key = { resolution: row.resolution, step: row.step, joined: JOINED };
  const closed = await sql.row<{ figures: string }>(READ_CLOSED, key);
  if (closed !== undefined) {
    const [sum] = joinRows([{ ...row, figures: closed.figures }, row]);
    await sql.run(CHANGE_CLOSED, { ...key, figures: sum?.figures });
    return;
  }
  const { oldest, newest } = keptSteps(row.resolution, now);
  const { resolution, figures } = row;
  if ((await sql.run(REPLACE_OLD, { ...key, figures, oldest, newest })) === 0)
    await sql.run(ADD_CLOSED, { ...key, figures });
  await sql.run(DROP_OLD, { resolution, oldest, newest, spare: SPARE_ROWS, limit: MAX_DROPPED_ROWS });
}

const READ_RANGE = `
  SELECT step, figures FROM pigeonhole.inbox_figure WHERE resolution = :stepMs AND step BETWEEN :first AND :last
  UNION ALL
  SELECT step, figures FROM pigeonhole.inbox_open_figure WHERE resolution = :stepMs AND step BETWEEN :first AND :last`;

/** Reads the steps of a range, of all processes together. */
export async function readFigures(sql: Sql, query: FiguresQuery): Promise<FigureSeries> {
  const { stepMs, first, last } = stepsOfRange(query);
  const rows = await sql.rows<Omit<StoredRow, "resolution">>(READ_RANGE, { stepMs, first, last });
  return toFigureSeries(
    rows.map(({ step, figures }) => ({ step, figures: fromStoredFigures(figures) })),
    query,
  );
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
