import { LOCKED } from "../advisory-lock.js";
import type { Sql } from "../sql.js";

/** Whether a process has the store open, by the lock that it holds. */
export async function hasLiveNode(sql: Sql, lockClass: number): Promise<boolean> {
  const found = await sql.row(
    `SELECT 1 AS found FROM pg_locks
     WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND objid::bigint > :others
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND classid = (:lockClass::bigint & 4294967295)::oid
     LIMIT 1`,
    { lockClass, others: Math.max(...Object.values(LOCKED)) },
  );
  return found !== undefined;
}
