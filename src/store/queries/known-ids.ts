import type { KnownTimes } from "../store.js";
import { type StoreQuery, readFirst, readRows, run } from "./store-query.js";

/** Since when all ids are known. */
export function* idsKnownSince(): StoreQuery<number | undefined> {
  const times = yield* readFirst<IdTimes>(`
    SELECT (SELECT value FROM pigeonhole.inbox_counter WHERE name = 'begun') AS begun,
      (SELECT received_at FROM pigeonhole.inbox_event ORDER BY seq LIMIT 1) AS oldest,
      (SELECT value FROM pigeonhole.inbox_counter WHERE name = 'ids_removed_before') AS "removedBefore"`);
  return times === undefined ? undefined : readIdTimes(times);
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
    yield* run(
      "INSERT INTO pigeonhole.inbox_counter (name, value) VALUES ('begun', :now) ON CONFLICT (name) DO NOTHING",
      {
        now: Math.ceil(times.clock),
      },
    );
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

/** Times that say which ids an inbox has, in milliseconds since 1970; each is null if there is none. */
interface IdTimes {
  /** When a receiver first used the inbox. */
  begun: number | null;
  /** When the first event was received that is still there. */
  oldest: number | null;
  /** Retention has removed ids of events from before. Some may be left: those with unsettled work stay. */
  removedBefore: number | null;
}

/** See {@link InboxOperator.idsKnownSince}. An event may be older than the first noted time of a receiver. */
function readIdTimes({ begun, oldest, removedBefore }: IdTimes): number | undefined {
  const first = Math.min(begun ?? Infinity, oldest ?? Infinity);
  return first === Infinity ? undefined : Math.max(first, removedBefore ?? first);
}
