import type Database from "better-sqlite3";
import { PigeonholeError, isPigeonholeError } from "../../base/error.js";
import { type UserFunction, checkStatements, transactionEnded } from "./statement-check.js";

/** The database for the length of one synchronous call. */
export interface GuardedDatabase {
  /**
   * The same database; every use of it, of its statements and of its functions fails after `end`, and after SQL that
   * ends the transaction.
   */
  readonly db: Database.Database;
  /** Throws `transaction_ended` when SQL that ends the transaction was refused, also if the user caught that. */
  checkKept(): void;
  /** Revokes `db` and closes open iterators, which would keep the transaction from ending. */
  end(): void;
}

type Rows = IterableIterator<unknown>;
type AnyFunction = (...args: unknown[]) => unknown;

export function guardDatabase(db: Database.Database, name: UserFunction): GuardedDatabase {
  let isOpen = true;
  let hasTriedToEnd = false;
  const unfinished = new Set<Rows>();

  function checkOpen(): void {
    if (!isOpen) throw transactionClosed(name);
    // A write from now on would be outside the transaction, without the end of the work.
    if (hasTriedToEnd || !db.inTransaction) throw transactionEnded(name);
  }

  function call(property: string | symbol, target: object, args: unknown[]): unknown {
    try {
      if (target === db) checkCall(name, property, args[0]);
      return Reflect.apply(Reflect.get(target, property) as AnyFunction, target, args);
    } catch (error) {
      hasTriedToEnd ||= isPigeonholeError(error, "transaction_ended");
      throw error;
    }
  }

  function guard<T extends object>(target: T): T {
    // Some properties are read-only, and a proxy must not return another value for such a property of its target.
    const standIn = (typeof target === "function" ? () => undefined : {}) as T;
    const guarded: T = new Proxy(standIn, {
      get(_, property) {
        checkOpen();
        const value: unknown = Reflect.get(target, property, target);
        if (value === db) return guardedDb;
        if (typeof value !== "function") return value;
        return (...args: unknown[]): unknown => {
          checkOpen();
          const result: unknown = call(property, target, args);
          if (result === target) return guarded;
          if (property === "prepare" || property === "transaction") return guard(result as object);
          return property === "iterate" ? guardRows(result as Rows) : result;
        };
      },
      apply(_, self, args) {
        checkOpen();
        return Reflect.apply(target as AnyFunction, self, args);
      },
      has: (_, property) => Reflect.has(target, property),
      getPrototypeOf: () => Reflect.getPrototypeOf(target),
    });
    return guarded;
  }

  function guardRows(rows: Rows): Rows {
    unfinished.add(rows);
    return readRows(rows, { checkOpen, ended: () => void unfinished.delete(rows) });
  }

  const guardedDb = guard(db);
  return {
    get db() {
      checkOpen();
      return guardedDb;
    },
    checkKept() {
      if (hasTriedToEnd) throw transactionEnded(name);
    },
    end() {
      isOpen = false;
      for (const rows of unfinished) rows.return?.();
    },
  };
}

interface RowsGuard {
  checkOpen: () => void;
  ended: () => void;
}

function* readRows(rows: Rows, { checkOpen, ended }: RowsGuard): Generator<unknown, void> {
  try {
    for (;;) {
      checkOpen();
      const next = rows.next();
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    rows.return?.();
    ended();
  }
}

function transactionClosed(name: UserFunction): PigeonholeError {
  return new PigeonholeError(
    "transaction_closed",
    `tx.db was used after ${name} had ended; use it inside its function.`,
  );
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
