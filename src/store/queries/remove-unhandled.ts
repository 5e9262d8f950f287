import { CRASH_LOOP } from "../error-kind.js";
import { type StoreQuery, exists, readRows, run } from "./store-query.js";

/**
 * Removes an event that is parked, and on which no handler has run, so that other bytes of its id take its place. False
 * for any other event, which stays; true for one that is gone. In one transaction.
 */
export function* removeUnhandled(seq: number): StoreQuery<boolean> {
  const isThere = yield* exists("SELECT 1 AS found FROM pigeonhole.inbox_event WHERE seq = :seq FOR UPDATE", { seq });
  if (!isThere) return true;
  const work = yield* readRows<{ state: string; reason: string | null; started: number }>(
    "SELECT state, reason, started FROM pigeonhole.inbox_work WHERE seq = :seq ORDER BY handler FOR UPDATE",
    { seq },
  );
  // The lease that found that the schema refuses the event counts as started.
  const isUnhandled = work.every(
    ({ state, reason, started }) => state === "parked" && reason !== CRASH_LOOP.reason && started <= 1,
  );
  if (work.length === 0 || !isUnhandled) return false;
  if (yield* exists("SELECT 1 AS found FROM pigeonhole.inbox_step WHERE seq = :seq LIMIT 1", { seq })) return false;
  for (const table of ["inbox_work", "inbox_body", "inbox_failed", "inbox_step", "inbox_event"])
    yield* run(`DELETE FROM pigeonhole.${table} WHERE seq = :seq`, { seq });
  return true;
}
