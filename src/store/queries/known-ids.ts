import type { KnownTimes } from "../store.js";
import { type StoreQuery, readFirst, readRows, run } from "./store-query.js";

/** See {@link InboxOperator.idsKnownSince}. */
export function* idsKnownSince(): StoreQuery<number | undefined> {
  // When a receiver first used the inbox, and from when its first event is, which may be older. Of ids from before
  // `removedBefore`, retention has left those with unsettled work.
  const times = yield* readFirst<Record<"begun" | "oldest" | "removedBefore", number | null>>(`
    SELECT (SELECT value FROM pigeonhole.inbox_counter WHERE name = 'begun') AS begun,
      (SELECT received_at FROM pigeonhole.inbox_event ORDER BY seq LIMIT 1) AS oldest,
      (SELECT value FROM pigeonhole.inbox_counter WHERE name = 'ids_removed_before') AS "removedBefore"`);
  const first = Math.min(times?.begun ?? Infinity, times?.oldest ?? Infinity);
  return first === Infinity ? undefined : Math.max(first, times?.removedBefore ?? first);
}

/** Notes that ids from before a time may be removed, unless a later time is noted. */
export function* noteRemoval(before: number): StoreQuery<void> {
  yield* run(
    `INSERT INTO pigeonhole.inbox_counter AS t (name, value) VALUES ('ids_removed_before', :before)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE t.value < excluded.value`,
    // A clock may have fractions of milliseconds.
    { before: Math.ceil(before) },
  );
}

/** Keeps the times given in place of those known, and returns all that are known then. */
export function* noteTimes(times: KnownTimes): StoreQuery<KnownTimes> {
  // In one order, so that two processes do not wait for each other.
  for (const name of ["api", "clock", "delivery"] as const) {
    const value = times[name];
    if (value === undefined) continue;
    yield* run(
      `INSERT INTO pigeonhole.inbox_counter (name, value) VALUES (:name, :value)
       ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      { name, value },
    );
  }
  if (times.clock !== undefined) {
    const begin =
      "INSERT INTO pigeonhole.inbox_counter (name, value) VALUES ('begun', :now) ON CONFLICT (name) DO NOTHING";
    yield* run(begin, { now: Math.ceil(times.clock) });
  }
  const rows = yield* readRows<{ name: string; value: number }>(
    "SELECT name, value FROM pigeonhole.inbox_counter WHERE name IN ('api', 'clock', 'delivery')",
  );
  const known = Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  // A process may have ended before it noted a time, but its clock was there when the newest event came.
  const newest = "SELECT received_at AS at FROM pigeonhole.inbox_event ORDER BY seq DESC LIMIT 1";
  const clock = known["clock"] ?? (yield* readFirst<{ at: number }>(newest))?.at;
  return { clock, delivery: known["delivery"], api: known["api"] };
}
