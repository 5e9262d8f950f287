import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { createSqliteStore, type SqliteStore } from "pigeonhole";

/** The SQLite file in which deliveries are kept. Its option `setup` makes tables of your own beside them. */
export function createStore(file: string): SqliteStore {
  mkdirSync(dirname(file), { recursive: true });
  return createSqliteStore({ file });
}
