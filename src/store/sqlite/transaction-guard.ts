import Database from "better-sqlite3";
import { PigeonholeError } from "../../base/error.js";

/** The database for the length of one synchronous call. */
export interface GuardedDatabase {
  /**
   * The same database; every use of it, of its statements and of its functions fails after `end`, and after SQL that
   * ends the transaction.
   */
  readonly db: Database.Database;
  /** Revokes `db` and closes open iterators, which would keep the transaction from ending. */
  end(): void;
}

type Rows = IterableIterator<unknown>;
type AnyFunction = (...args: unknown[]) => unknown;

/** What was given the function that uses the database. */
export type UserFunction = "ctx.commit" | "setup" | "read";

export function guardDatabase(db: Database.Database, name: UserFunction): GuardedDatabase {
  let isOpen = true;
  let hasTriedToCommit = false;
  const unfinished = new Set<Rows>();

  function checkOpen(): void {
    if (!isOpen) {
      throw new PigeonholeError(
        "transaction_closed",
        `tx.db was used after ${name} had ended; use it inside its function.`,
      );
    }
    // A write from now on would be outside the transaction, without the done mark.
    if (hasTriedToCommit || !db.inTransaction) throw transactionEnded(name);
  }

  function call(method: AnyFunction, target: object, args: unknown[]): unknown {
    try {
      return Reflect.apply(method, target, args);
    } catch (error) {
      if (!isRefusedCommit(error, target === db ? args[0] : Reflect.get(target, "source"))) throw error;
      hasTriedToCommit = true;
      throw transactionEnded(name, error);
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
          if (target === db) checkIsOfOneTransaction(name, property, args[0]);
          const result: unknown = call(value as AnyFunction, target, args);
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
    return readRows(rows);
  }

  function* readRows(rows: Rows): Generator<unknown, void> {
    try {
      for (;;) {
        checkOpen();
        const next = rows.next();
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      rows.return?.();
      unfinished.delete(rows);
    }
  }

  const guardedDb = guard(db);
  return {
    get db() {
      checkOpen();
      return guardedDb;
    },
    end() {
      isOpen = false;
      for (const rows of unfinished) rows.return?.();
    },
  };
}

/**
 * Pragmas that hold for the connection, which all handlers share, when they are set. Inside a transaction, SQLite
 * ignores `foreign_keys`; a migration that relies on it would delete the rows of other tables.
 */
const SETS_CONNECTION =
  /\bPRAGMA\s+(?:\w+\.)?(foreign_keys|defer_foreign_keys|query_only|locking_mode|journal_mode|synchronous|user_version|application_id)\s*[=(]/i;

const CHANGES_CONNECTION = ["close", "defaultSafeIntegers", "unsafeMode"];

/** Throws `invalid_argument` for what would reach beyond the transaction: the connection is that of all handlers. */
function checkIsOfOneTransaction(name: UserFunction, method: string | symbol, sql: unknown): void {
  const statements = method === "pragma" ? `PRAGMA ${String(sql)}` : sql;
  const pragma = typeof statements === "string" && SETS_CONNECTION.exec(statements)?.[1];
  const refused = pragma ? `PRAGMA ${pragma}` : CHANGES_CONNECTION.find((one) => one === method);
  if (refused === undefined) return;
  throw new PigeonholeError(
    "invalid_argument",
    `${refused} is not allowed in ${name}: all handlers share the connection, and its foreign keys are on. Leave it out.`,
  );
}

export function transactionEnded(name: UserFunction, cause?: unknown): PigeonholeError {
  return new PigeonholeError(
    "transaction_ended",
    `The SQL given to tx.db ended the transaction of ${name}, so nothing was written. Leave out COMMIT, ROLLBACK and OR ROLLBACK; throw to undo everything, or use tx.db.transaction() for a part.`,
    cause === undefined ? undefined : { cause },
  );
}

/** SQL with a COMMIT among its statements, after comments or not. */
const COMMITS = /(?:^|;)(?:\s|--[^\n]*\n|\/\*.*?\*\/)*(?:COMMIT|END)\b/is;

/** The user does not know the foreign key that keeps SQL from committing; see `prepareTurnMarker`. */
function isRefusedCommit(error: unknown, sql: unknown): boolean {
  return (
    error instanceof Database.SqliteError &&
    error.code === "SQLITE_CONSTRAINT_FOREIGNKEY" &&
    typeof sql === "string" &&
    COMMITS.test(sql)
  );
}
