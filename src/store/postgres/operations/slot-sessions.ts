import type { SessionOfServer } from "../../store.js";
import type { Sql } from "../sql.js";
import { bodiesIn } from "./body-slots.js";

/** Sessions with a lock of a slot: first those of which the user may not see when they began, then in that order. */
export function sessionsHolding(sql: Sql, slot: number): Promise<SessionOfServer[]> {
  return sql.rows(
    `SELECT pid, coalesce(application_name, '') AS application FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND pid IN (
       SELECT pid FROM pg_locks WHERE granted AND relation = '${bodiesIn(slot)}'::regclass
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
     ORDER BY xact_start NULLS FIRST, pid LIMIT 5`,
  );
}
