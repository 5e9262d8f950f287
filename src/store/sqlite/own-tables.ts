import Database from "better-sqlite3";
import { PigeonholeError } from "../../base/error.js";
import type { CommitFunction, CommitTransaction } from "../commit-transaction.js";
import { MIGRATIONS } from "./migrations.js";
import { transactionEnded } from "../guard-transaction.js";
import { asStoreError } from "./store-error.js";
import { callWithDatabase } from "./call-with-database.js";

/** Makes or migrates the user's own tables in one transaction. Throws what `setup` throws; then nothing is written. */
export function setUpOwnTables(db: Database.Database, setup: CommitFunction<unknown>): void {
  const run = db.transaction(() => {
    const before = readReserved(db);
    callWithDatabase(db, setup, "setup");
    if (!db.inTransaction) throw transactionEnded({ name: "setup", what: "tx.db" });
    refuseReserved(before, readReserved(db));
  });
  try {
    run.immediate();
  } catch (error) {
    throw error instanceof Database.SqliteError ? asStoreError(error, "setup") : error;
  }
}

/** Reads in one transaction, on the connection of `ctx.commit`; SQLite refuses writes meanwhile. */
export function readOwnTables<Value>(db: Database.Database, fn: (tx: CommitTransaction) => Value): Value {
  // A closed connection would throw an error that says nothing of files.
  if (!db.open) throw new PigeonholeError("store_replaced", "The files of the database are gone; nothing can be read.");
  const run = db.transaction(() => callWithDatabase(db, fn, "read"));
  const before = Number(db.pragma("query_only", { simple: true }));
  db.pragma("query_only = ON");
  try {
    return run.deferred();
  } finally {
    // A read inside another one must not let that one write.
    db.pragma(`query_only = ${before}`);
  }
}

/** What the database has under the names of the store: tables, indexes, views and triggers, with their SQL. */
type ReservedObjects = ReadonlyMap<string, string | null>;

/** What the migrations of the store make. */
const OWN = new Set(
  MIGRATIONS.flatMap((sql) =>
    [...sql.matchAll(/\bCREATE (?:TABLE|VIEW|TRIGGER|(?:UNIQUE )?INDEX) (\w+)/g)].map(([, name]) => name),
  ),
);

/** SQLite compares names without case, as LIKE does. */
function readReserved(db: Database.Database): ReservedObjects {
  const rows = db
    .prepare<[], [string, string | null]>(
      `SELECT name, sql FROM main.sqlite_schema
       WHERE name LIKE 'inbox\\_%' ESCAPE '\\' OR name LIKE 'outbox\\_%' ESCAPE '\\'`,
    )
    .raw()
    .all();
  return new Map(rows);
}

/**
 * Throws `invalid_argument` if `setup` has made, changed or removed something under the store's names. What was there
 * before and is the user's may stay, change or go: a database may have it from before its first receiver.
 */
function refuseReserved(before: ReservedObjects, after: ReservedObjects): void {
  const made = [...after.keys()].find((name) => !before.has(name));
  if (made !== undefined) {
    throw refusal(`setup made "${made}", a name of the store`, "Begin the names of your tables and indexes otherwise");
  }
  const changed = [...before].find(([name, sql]) => OWN.has(name) && after.get(name) !== sql);
  if (changed === undefined) return;
  throw refusal(`setup changed or removed "${changed[0]}" of the store`, "Change your own tables only");
}

function refusal(what: string, advice: string): PigeonholeError<"invalid_argument"> {
  const rule = "all names that begin with inbox_ or outbox_ belong to it, and a later version may use any of them";
  return new PigeonholeError("invalid_argument", `${what}: ${rule}. ${advice}; nothing of this setup was written.`);
}
