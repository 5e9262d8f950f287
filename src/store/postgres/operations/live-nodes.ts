import { FIRST_NODE, LOCKED } from "../advisory-lock.js";
import type { Sql } from "../sql.js";
import { HELD_LOCKS } from "./held-locks.js";

/**
 * Whether a process runs the handlers of the store, by the lock that it holds. Without the look, a copy mixes with what
 * a receiver stores. Test: "a copy is refused beside a receiver that only accepts, also before its first delivery".
 */
export function hasLiveNode(sql: Sql, lockClass: number): Promise<boolean> {
  return isHeld(sql, { lockClass, from: FIRST_NODE });
}

/** Whether a process has the store open, also one that only accepts; one behind a pooler cannot be seen. */
export function hasOpenStore(sql: Sql, lockClass: number): Promise<boolean> {
  return isHeld(sql, { lockClass, from: LOCKED.accepting });
}

async function isHeld(sql: Sql, of: { lockClass: number; from: number }): Promise<boolean> {
  const found = await sql.row(`SELECT 1 AS found FROM ${HELD_LOCKS} WHERE number >= :from LIMIT 1`, of);
  return found !== undefined;
}
