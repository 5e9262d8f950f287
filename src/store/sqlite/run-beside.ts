import type { Database } from "better-sqlite3";
import { PigeonholeError } from "../../base/error.js";
import { BUSY_WAITS, whileBusy } from "../while-busy.js";
import { asStoreError } from "./store-error.js";

/** A transaction on a database that a receiver may be using. */
export function runBeside<Value>(db: Database, kind: "deferred" | "immediate", work: () => Value): Promise<Value> {
  return tryWhileBusy(() => {
    if (!db.open) throw new PigeonholeError("stopped", "The inbox file is closed.");
    return db.transaction(work)[kind]();
  });
}

/** Tries again while the receiver holds the database. */
export function tryWhileBusy<Value>(work: () => Value): Promise<Value> {
  return whileBusy(BUSY_WAITS.outside, () => {
    try {
      return work();
    } catch (error) {
      throw asStoreError(error, "using the database");
    }
  });
}
