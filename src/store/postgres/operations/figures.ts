import type { DiskUse, FiguresWrite } from "../../figures.js";
import { addFigures } from "../../queries/figures.js";
import { LOCKED } from "../advisory-lock.js";
import type { Sql } from "../sql.js";
import type { ProcessLock } from "./recover.js";

/**
 * One process adds at a time. One that stands still does not keep the lock: the server ends its transaction before
 * others have waited for as long as they may.
 */
const LOCK = `
  SELECT pg_advisory_xact_lock(:lockClass, :lock), set_config('idle_in_transaction_session_timeout', '1s', true)`;

/** Adds what a process has to say. In one transaction. */
export async function writeFigures(sql: Sql, { lockClass }: ProcessLock, write: FiguresWrite): Promise<void> {
  await sql.run(LOCK, { lockClass, lock: LOCKED.figures });
  await sql.perform(addFigures(write));
}

/** What the tables and their indexes take. What is free is known to the server alone. */
export async function readTableSizes(sql: Sql): Promise<DiskUse> {
  const row = await sql.row<{ bytes: number }>(`
    SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint AS bytes FROM pg_class
    WHERE relkind = 'r' AND relnamespace = (
      SELECT relnamespace FROM pg_class WHERE oid = 'pigeonhole.inbox_event'::regclass)`);
  return { usedBytes: row?.bytes, freeBytes: undefined };
}
