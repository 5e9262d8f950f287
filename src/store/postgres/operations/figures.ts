import {
  JOINED,
  MAX_DROPPED_ROWS,
  MAX_JOINED_STEPS,
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
import { stepsOfRange, toFigureSeries } from "../../figure-series.js";
import type { DiskUse, FigureSeries, FiguresQuery, FiguresWrite, ReportedStatus } from "../../figures.js";
import { fromStoredFigures } from "../../stored-figures.js";
import { LOCKED } from "../advisory-lock.js";
import type { Sql } from "../sql.js";
import type { NodeLock } from "./recover.js";

/**
 * The row of the process itself, and whether any process has written about the step. The row is locked: until the sum
 * is written, nobody else joins what it has.
 */
const READ = `
  SELECT step, (SELECT figures FROM pigeonhole.figure AS own
      WHERE own.resolution = open.resolution AND own.step = open.step AND own.process = :process
      FOR UPDATE) AS figures,
    EXISTS (SELECT 1 FROM pigeonhole.figure AS f
      WHERE f.resolution = open.resolution AND f.step = open.step) AS "hasRow"
  FROM unnest(:resolutions::bigint[], :steps::bigint[]) WITH ORDINALITY AS open (resolution, step, place)
  ORDER BY place`;

const WRITE = `
  INSERT INTO pigeonhole.figure (resolution, step, process, figures)
  SELECT resolution, step, :process, figures
  FROM unnest(:resolutions::bigint[], :steps::bigint[], :figures::text[]) AS given (resolution, step, figures)
  ON CONFLICT (resolution, step, process) DO UPDATE SET figures = excluded.figures`;

/** What another process drops at the same time is left to it. */
const DROP = `
  DELETE FROM pigeonhole.figure WHERE ctid = ANY (ARRAY (
    SELECT f.ctid FROM unnest(:resolutions::bigint[], :oldest::bigint[], :newest::bigint[])
      AS kept (resolution, oldest, newest)
    JOIN pigeonhole.figure AS f ON f.resolution = kept.resolution AND (f.step <= kept.oldest OR f.step > kept.newest)
    LIMIT :limit FOR UPDATE OF f SKIP LOCKED))`;

/** One process joins at a time; what a late one writes meanwhile keeps or gets a row of its own. */
const MAY_JOIN = "SELECT pg_try_advisory_xact_lock(:lockClass, :lock) AS mine";

const TAKE_CLOSED = `
  WITH several AS MATERIALIZED (
    SELECT resolution, step FROM pigeonhole.figure WHERE step + resolution <= :before
    GROUP BY resolution, step HAVING count(*) > 1 LIMIT :limit
  )
  DELETE FROM pigeonhole.figure WHERE ctid = ANY (ARRAY (
    SELECT f.ctid FROM several JOIN pigeonhole.figure AS f USING (resolution, step) FOR UPDATE OF f SKIP LOCKED))
  RETURNING resolution, step, figures`;

const WRITE_STATUS = `
  INSERT INTO pigeonhole.process_status (process, at, status) VALUES (:process, :at, :status)
  ON CONFLICT (process) DO UPDATE SET at = excluded.at, status = excluded.status`;

const DROP_STATUSES = `
  DELETE FROM pigeonhole.process_status WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM pigeonhole.process_status WHERE at < :oldest OR at > :newest FOR UPDATE SKIP LOCKED))`;

/** Adds what a process has to say to its rows, and replaces its status. */
export async function writeFigures(sql: Sql, { lockClass }: NodeLock, write: FiguresWrite): Promise<void> {
  const { process, now, figures, status } = write;
  const open = openStepsAt(now);
  const keys = { process, resolutions: open.map(({ resolution }) => resolution), steps: open.map(({ step }) => step) };
  const rows = await sql.rows<{ figures: string | null; hasRow: boolean }>(READ, keys);
  const texts = open.map((_, place) => addToRow(rows[place]?.figures ?? undefined, figures));
  await sql.run(WRITE, { ...keys, figures: texts });
  const kept = { oldest: open.map(({ oldest }) => oldest), newest: open.map(({ newest }) => newest) };
  await sql.run(DROP, { resolutions: keys.resolutions, ...kept, limit: MAX_DROPPED_ROWS });
  if (open.some(({ joins }, place) => joins && rows[place]?.hasRow === false)) await joinClosed(sql, lockClass, now);
  if (status === undefined)
    await sql.run("DELETE FROM pigeonhole.process_status WHERE process = :process", { process });
  else await sql.run(WRITE_STATUS, { process, at: now, status: toStoredStatus(status) });
  await sql.run(DROP_STATUSES, keptStatuses(now));
}

/** Makes one row of those of several processes, in steps that are closed. */
async function joinClosed(sql: Sql, lockClass: number, now: number): Promise<void> {
  const lock = await sql.row<{ mine: boolean }>(MAY_JOIN, { lockClass, lock: LOCKED.joining });
  if (lock?.mine !== true) return;
  const rows = await sql.rows<StoredRow>(TAKE_CLOSED, { before: closedBefore(now), limit: MAX_JOINED_STEPS });
  const joined = joinRows(rows);
  await sql.run(WRITE, {
    process: JOINED,
    resolutions: joined.map(({ resolution }) => resolution),
    steps: joined.map(({ step }) => step),
    figures: joined.map(({ figures }) => figures),
  });
}

/** Reads the steps of a range, of all processes together. */
export async function readFigures(sql: Sql, query: FiguresQuery): Promise<FigureSeries> {
  const { stepMs, first, last } = stepsOfRange(query);
  const rows = await sql.rows<StoredRow>(
    `SELECT resolution, step, figures FROM pigeonhole.figure
     WHERE resolution = :stepMs AND step BETWEEN :first AND :last`,
    { stepMs, first, last },
  );
  return toFigureSeries(
    rows.map(({ step, figures }) => ({ step, figures: fromStoredFigures(figures) })),
    query,
  );
}

/** Reads what the processes last said. */
export async function readStatuses(sql: Sql): Promise<ReportedStatus[]> {
  const rows = await sql.rows<StoredStatus>(
    "SELECT at, status FROM pigeonhole.process_status ORDER BY at DESC, process",
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
