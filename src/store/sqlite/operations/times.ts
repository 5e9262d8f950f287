import type { Database } from "better-sqlite3";
import type { KnownTimes } from "../../store.js";
import { prepareNoteBegin } from "./known-ids.js";

const ROWS = { clock: "clock_time", delivery: "delivery_time", api: "api_time" } as const;

/** Keeps the times given in place of those known, and returns all that are known then. */
export function prepareNoteTimes(db: Database) {
  const set = db.prepare<[string, number]>(`
    INSERT INTO counter (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`);
  const noteBegin = prepareNoteBegin(db);
  const read = db.prepare<[string], number>("SELECT value FROM counter WHERE name = ?").pluck();
  // A process may have ended before it noted a time, but its clock was there when the newest event came.
  const selectNewest = db.prepare<[], number>("SELECT received_at FROM inbox_event ORDER BY seq DESC LIMIT 1").pluck();

  return (times: KnownTimes): KnownTimes => {
    for (const kind of ["clock", "delivery", "api"] as const) {
      const time = times[kind];
      if (time !== undefined) set.run(ROWS[kind], time);
    }
    if (times.clock !== undefined) noteBegin(times.clock);
    return {
      clock: read.get(ROWS.clock) ?? selectNewest.get(),
      delivery: read.get(ROWS.delivery),
      api: read.get(ROWS.api),
    };
  };
}
