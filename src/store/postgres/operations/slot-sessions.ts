import { setTimeout as sleep } from "node:timers/promises";
import type { SessionOfServer } from "../../store.js";
import type { Sql } from "../sql.js";
import { bodiesIn } from "./body-slots.js";

/** What sees only the state before a transaction number. A vacuum sees nothing that it passes on. */
const SEES_BEFORE = `
  SELECT 1 AS found FROM pg_stat_activity
  WHERE datname = current_database() AND usesysid IS NOT NULL AND pid <> pg_backend_pid()
    AND age(backend_xmin) > age(:since::xid8::xid) LIMIT 1`;

const TRIES = 10;
const PAUSE_MS = 20;

/**
 * True while a transaction of this database sees only the state before a transaction number. To that one, a table that
 * is emptied now is empty, and bodies that were moved out of it since are nowhere.
 */
export async function isSeenFromBefore(sql: Sql, since: string): Promise<boolean> {
  for (let tries = 1; tries <= TRIES; tries += 1) {
    if ((await sql.row(SEES_BEFORE, { since })) === undefined) return false;
    await sleep(PAUSE_MS);
  }
  return true;
}

/** Where the user may not see when others began, they are listed first. */
const SELECT_HOLDING = (bodies: string) => `
  SELECT pid, coalesce(application_name, '') AS application FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND (
    greatest(age(backend_xmin), age(backend_xid)) > age(:since::xid8::xid)
    OR pid IN (
      SELECT pid FROM pg_locks WHERE granted AND relation = '${bodies}'::regclass
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())))
  ORDER BY xact_start NULLS FIRST, pid LIMIT 5`;

/** Sessions because of which a slot is not emptied at the moment, those that began first before the others. */
export function sessionsHolding(
  sql: Sql,
  { slot, since }: { slot: number; since: string | undefined },
): Promise<SessionOfServer[]> {
  return sql.rows(SELECT_HOLDING(bodiesIn(slot)), { since: since ?? null });
}
