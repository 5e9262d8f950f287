import type { Database } from "better-sqlite3";
import { type IdTimes, readIdTimes } from "../../known-ids.js";

/** Finds those of the ids that are stored. */
export function prepareFindIds(db: Database): (ids: readonly string[]) => string[] {
  const select = db.prepare<[string], 1>("SELECT 1 FROM inbox_event WHERE id = ?");
  return (ids) => ids.filter((id) => select.get(id) !== undefined);
}

/** Reads since when all ids are known. */
export function prepareIdsKnownSince(db: Database): () => number | undefined {
  const select = db.prepare<[], IdTimes>(`
    SELECT (SELECT value FROM counter WHERE name = 'begun_time') AS begun,
      (SELECT received_at FROM inbox_event ORDER BY seq LIMIT 1) AS oldest,
      (SELECT value FROM counter WHERE name = 'ids_removed_before') AS removedBefore`);
  return () => {
    const times = select.get();
    return times === undefined ? undefined : readIdTimes(times);
  };
}

/** Notes when a receiver first used the inbox, and later times not at all. */
export function prepareNoteBegin(db: Database): (now: number) => void {
  const note = db.prepare("INSERT INTO counter (name, value) VALUES ('begun_time', ?) ON CONFLICT (name) DO NOTHING");
  return (now) => void note.run(Math.ceil(now));
}

/** Notes that ids from before a time may be removed, unless a later time is noted. */
export function prepareNoteRemoval(db: Database): (before: number) => void {
  const note = db.prepare(`
    INSERT INTO counter (name, value) VALUES ('ids_removed_before', :before)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value < excluded.value`);
  // A clock may have fractions of milliseconds.
  return (before) => void note.run({ before: Math.ceil(before) });
}
