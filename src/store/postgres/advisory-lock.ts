import { createHash } from "node:crypto";
import type { Sql } from "./sql.js";

/** What is locked beside processes, whose numbers are higher. `accepting` is shared by all that may take deliveries. */
export const LOCKED = { migration: 1, freezing: 2, accepting: 3, setup: 4, figures: 5 } as const;

/** The lowest number of a process. */
export const FIRST_PROCESS = 16;

/** The first half of all advisory locks of a schema, so that two schemas of a database have different ones. */
export function lockClassOf(schema: string): number {
  return createHash("sha256").update(`pigeonhole ${schema}`).digest().readInt32BE();
}

/** The numbers of a schema that are locked in this database, and the session of each: for FROM. Takes `:lockClass`. */
export const HELD_LOCKS = `(
    SELECT objid::bigint AS number, pid FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 2 AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND classid = (:lockClass::bigint & 4294967295)::oid
  ) AS held`;

/** Whether a process runs the handlers of the store, by the lock that it holds. */
export function hasLiveProcess(sql: Sql, lockClass: number): Promise<boolean> {
  return isHeld(sql, { lockClass, from: FIRST_PROCESS });
}

/**
 * Whether a process has the store open, also one that only accepts; one behind a pooler cannot be seen. Without the
 * look, a copy mixes with what a receiver stores. Test: "a copy is refused beside a receiver that only accepts, also
 * before its first delivery".
 */
export function hasOpenStore(sql: Sql, lockClass: number): Promise<boolean> {
  return isHeld(sql, { lockClass, from: LOCKED.accepting });
}

async function isHeld(sql: Sql, of: { lockClass: number; from: number }): Promise<boolean> {
  const found = await sql.row(`SELECT 1 AS found FROM ${HELD_LOCKS} WHERE number >= :from LIMIT 1`, of);
  return found !== undefined;
}
