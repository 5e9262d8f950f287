import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { createSqliteStore, type SqliteStore } from "pigeonhole";
import { migrateTables } from "./tables.js";

/** The SQLite file in which deliveries are kept, with your own tables beside them. */
export function createStore(file: string): SqliteStore {
  mkdirSync(dirname(file), { recursive: true });
  return createSqliteStore({ file, setup: migrateTables });
}
