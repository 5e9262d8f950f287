import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "better-sqlite3";
import { storeTables, primaryKeyOf } from "./check-integrity.js";

/** A reader keeps the WAL from being emptied, so each read is short. */
const READ_MS = 20;

/** The rest is for the receiver. */
const PAUSES_PER_READ = 4;

type Key = (number | string)[];

/**
 * Reads every row of the store's tables, a little at a time. SQLite throws at a page that it cannot read.
 *
 * @throws AbortError soon after the signal is aborted.
 */
export async function checkRows(db: Database, signal?: AbortSignal): Promise<void> {
  for (const table of storeTables(db)) {
    for (let after: Key | undefined = []; after !== undefined;) {
      const begun = performance.now();
      after = readSome(db, table, after);
      await sleep(PAUSES_PER_READ * (performance.now() - begun), undefined, { signal });
    }
  }
}

/** Reads rows after the one with that key; an empty key stands before all. Undefined at the end of the table. */
function readSome(db: Database, table: string, after: Key): Key | undefined {
  const names = primaryKeyOf(db, table);
  const key = names.join(", ");
  const where = after.length === 0 ? "" : `WHERE (${key}) > (${after.map(() => "?").join(", ")})`;
  const rows = db.prepare<Key, Record<string, number | string>>(`SELECT * FROM ${table} ${where} ORDER BY ${key}`);
  const end = performance.now() + READ_MS;
  for (const row of rows.iterate(...after)) {
    if (performance.now() >= end) return names.map((name) => row[name] ?? "");
  }
  return undefined;
}
