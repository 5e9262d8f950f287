import { realpathSync, statSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { PigeonholeError } from "../../base/error.js";
import { STORE_TABLES } from "./migrations.js";
import { APPLICATION_ID } from "./open-database.js";
import { asStoreError, DAMAGED } from "./store-error.js";

/** Up to this size the whole file is checked, in about 100 ms. */
const SMALL_BYTES = 16 * 1024 * 1024;

/**
 * Refuses a damaged file before anything is written to it. A small file is checked as a whole; of a large one its
 * length and both ends of each table, so that more events do not make a start slower: damage in the middle stops the
 * store when it is met. Shown in test/store/corruption.process.test.ts. Throws `store_corrupt`.
 */
export function checkIntegrity(db: Database, file: string): void {
  // A new file, or one that holds only the user's own tables so far.
  if (Number(db.pragma("application_id", { simple: true })) !== APPLICATION_ID) return;
  try {
    const bytes = Number(db.pragma("page_count", { simple: true })) * Number(db.pragma("page_size", { simple: true }));
    checkLength(file, bytes);
    for (const table of storeTables(db)) {
      if (bytes <= SMALL_BYTES) checkAll(db, file, table);
      else checkEnds(db, table);
    }
  } catch (error) {
    throw asStoreError(error, `checking ${file}`);
  }
}

/** Those that the file has. Damage in the user's own tables is no reason to refuse it. */
export function storeTables(db: Database): string[] {
  const names = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
  return names.filter((name) => STORE_TABLES.includes(name));
}

/** Pages that are not in the file can only be in the WAL. */
function checkLength(file: string, bytes: number): void {
  const realPath = realpathSync(file);
  const length = statSync(realPath).size;
  const wal = statSync(`${realPath}-wal`, { throwIfNoEntry: false });
  if (length >= bytes || (wal !== undefined && wal.size > 0)) return;
  throw new PigeonholeError("store_corrupt", `${file} has ${length} of its ${bytes} bytes. ${DAMAGED}`);
}

function checkAll(db: Database, file: string, table: string): void {
  const found = String(db.pragma(`quick_check(${table})`, { simple: true }));
  if (found !== "ok") throw new PigeonholeError("store_corrupt", `${file}: ${found.split("\n")[0]}. ${DAMAGED}`);
}

/** SQLite itself throws at a page that it cannot read. */
function checkEnds(db: Database, table: string): void {
  for (const way of ["ASC", "DESC"]) {
    const order = primaryKeyOf(db, table)
      .map((column) => `${column} ${way}`)
      .join(", ");
    db.prepare(`SELECT * FROM ${table} ORDER BY ${order} LIMIT 1`).get();
  }
}

/** Columns in their order; each of the store's tables has a primary key. */
function primaryKeyOf(db: Database, table: string): string[] {
  return db
    .prepare<[string], string>("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk")
    .pluck()
    .all(table);
}
