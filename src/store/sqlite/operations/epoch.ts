import type { Database } from "better-sqlite3";

/** Reads how often a process took the file over: a process works on it while that stays as it made it. */
export function prepareReadEpoch(db: Database): () => number {
  const read = db.prepare<[], number>("SELECT value FROM inbox_counter WHERE name = 'epoch'").pluck();
  return () => read.get() ?? 0;
}

/** Notes a take-over; returns its epoch. */
export function prepareBeginEpoch(db: Database): () => number {
  const add = db
    .prepare<[], number>("UPDATE inbox_counter SET value = value + 1 WHERE name = 'epoch' RETURNING value")
    .pluck();
  return () => add.get() ?? 0;
}
