import { types } from "node:util";
import type { Database } from "better-sqlite3";
import { PigeonholeError } from "../../base/error.js";
import type { CommitTransaction } from "../commit-transaction.js";
import { type GuardedTransaction, type UserFunction, guardTransaction } from "../guard-transaction.js";
import { checkStatements } from "./statement-check.js";

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

type Rows = IterableIterator<unknown>;

/** Guards the database for the length of one synchronous call; the end closes iterators, which would keep it open. */
function guardDatabase(db: Database, name: UserFunction): GuardedTransaction<Database> {
  const unfinished = new Set<Rows>();
  const transaction = guardTransaction(db, {
    name,
    what: "tx.db",
    checkCall: (method, argument) => checkCall(name, method, argument),
    isInTransaction: () => db.inTransaction,
    guardResult(method, result, { guard, checkOpen }) {
      if (method === "prepare" || method === "transaction") return guard(result as object);
      if (method !== "iterate") return result;
      unfinished.add(result as Rows);
      return readRows(result as Rows, checkOpen);
    },
  });
  return {
    get guarded() {
      return transaction.guarded;
    },
    checkKept: () => transaction.checkKept(),
    end() {
      transaction.end();
      for (const rows of unfinished) rows.return?.();
    },
  };
}

function* readRows(rows: Rows, checkOpen: () => void): Generator<unknown, void> {
  try {
    for (;;) {
      checkOpen();
      const next = rows.next();
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    rows.return?.();
  }
}

const CHANGES_CONNECTION: readonly (string | symbol)[] = ["close", "defaultSafeIntegers", "unsafeMode"];

/** Throws for what would reach beyond the transaction: the connection is that of all handlers. */
function checkCall(name: UserFunction, method: string | symbol, sql: unknown): void {
  if (CHANGES_CONNECTION.includes(method)) {
    throw new PigeonholeError(
      "invalid_argument",
      `tx.db.${String(method)}() is not allowed in ${name}: all handlers share the connection. Leave it out.`,
    );
  }
  if (typeof sql !== "string") return;
  if (method === "pragma") checkStatements(name, `PRAGMA ${sql}`);
  else if (method === "prepare" || method === "exec") checkStatements(name, sql);
}
