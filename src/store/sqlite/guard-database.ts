import type Database from "better-sqlite3";
import { PigeonholeError } from "../../base/error.js";
import { type GuardedTransaction, type UserFunction, guardTransaction } from "../guard-transaction.js";
import { checkStatements } from "./statement-check.js";

type Rows = IterableIterator<unknown>;

/** Guards the database for the length of one synchronous call; the end closes iterators, which would keep it open. */
export function guardDatabase(db: Database.Database, name: UserFunction): GuardedTransaction<Database.Database> {
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
