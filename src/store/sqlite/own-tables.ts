import Database from "better-sqlite3";
import { PigeonholeError } from "../../base/error.js";
import type { CommitFunction, CommitTransaction } from "../commit-transaction.js";
import { readReserved, refuseReserved } from "./reserved-names.js";
import { asStoreError } from "./store-error.js";
import { transactionEnded } from "./statement-check.js";
import { callWithDatabase } from "./call-with-database.js";

/** Makes or migrates the user's own tables in one transaction. Throws what `setup` throws; then nothing is written. */
export function setUpOwnTables(db: Database.Database, setup: CommitFunction<unknown>): void {
  const run = db.transaction(() => {
    const before = readReserved(db);
    callWithDatabase(db, setup, "setup");
    if (!db.inTransaction) throw transactionEnded("setup");
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
