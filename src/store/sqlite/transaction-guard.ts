import type { Database } from "better-sqlite3";
import { PigeonholeError } from "../../base/error.js";

/** The database for the length of one synchronous call. */
export interface GuardedDatabase {
  /** The same database; every use of it, of its statements and of its functions fails after `end`. */
  readonly db: Database;
  /** Revokes `db` and closes what is still being read, which would keep the transaction from ending. */
  end(): void;
}

type Rows = IterableIterator<unknown>;
type AnyFunction = (...args: unknown[]) => unknown;

export function guardDatabase(db: Database): GuardedDatabase {
  let isOpen = true;
  const unfinished = new Set<Rows>();

  function checkOpen(): void {
    if (isOpen) return;
    throw new PigeonholeError(
      "transaction_closed",
      "tx.db was used after ctx.commit had ended; write inside its function.",
    );
  }

  function guard<T extends object>(target: T): T {
    // better-sqlite3 fixes some properties, and a proxy may not answer with another value for those of its own target.
    const standIn = (typeof target === "function" ? () => undefined : {}) as T;
    const guarded: T = new Proxy(standIn, {
      get(_, property) {
        checkOpen();
        const value: unknown = Reflect.get(target, property, target);
        if (value === db) return guardedDb;
        if (typeof value !== "function") return value;
        return (...args: unknown[]): unknown => {
          checkOpen();
          const result: unknown = Reflect.apply(value as AnyFunction, target, args);
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
