import { types } from "node:util";
import type { Database } from "better-sqlite3";
import { PigeonholeError } from "../../base/error.js";
import type { CommitTransaction } from "../commit-transaction.js";
import type { UserFunction } from "../guard-transaction.js";
import { guardDatabase } from "./guard-database.js";

/** Passes the database to one synchronous call of the user's, inside an open transaction, and revokes it after that. */
export function callWithDatabase<Value>(db: Database, fn: (tx: CommitTransaction) => Value, name: UserFunction): Value {
  const guarded = guardDatabase(db, name);
  const tx: CommitTransaction = {
    get db() {
      return guarded.guarded;
    },
  };
  try {
    const returned = fn(tx);
    // A generator has not run at all.
    if (isThenable(returned) || types.isGeneratorObject(returned)) {
      // The rest of an async function would write outside the transaction; what it has written so far is undone. Its
      // value may be the revoked database, which a promise must not be resolved with. What is no promise may be a query
      // that its `then` would start.
      if (types.isPromise(returned)) returned.then(ignore, ignore);
      throw new PigeonholeError(
        "commit_async",
        `The function given to ${name} returned a promise or a generator. Do the asynchronous part before ${name} and only use the database inside it.`,
      );
    }
    guarded.checkKept();
    return returned;
  } finally {
    guarded.end();
  }
}

function ignore(): void {}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
