import { PigeonholeError, isPigeonholeError } from "../base/error.js";
import type { Lease } from "./work.js";

// Prevents: what a user's function writes after a COMMIT of its own is kept beside work that runs again. Shown in
// test/store/user-transactions.test.ts and in test/store/postgres/commit.process.test.ts.

/** What was given the function that uses the database. */
export type UserFunction = "ctx.commit" | "setup" | "read";

/** What a function of the user gets, and how its use is checked. */
export interface GuardRules {
  name: UserFunction;
  /** What the user knows it by. */
  what: "tx.db" | "tx.client";
  /** Throws for a call that reaches beyond the transaction: `transaction_ended` for SQL that ends it. */
  checkCall(method: string | symbol, argument: unknown): void;
  /** Methods that do nothing. @default none */
  idle?: readonly (string | symbol)[];
  /** False once the transaction has ended by itself. @default true */
  isInTransaction?(): boolean;
  /** What a method returns, guarded as well; `checkOpen` throws once it must not be used any more. */
  guardResult?(method: string | symbol, result: unknown, guards: ResultGuards): unknown;
}

export interface ResultGuards {
  guard: <Of extends object>(of: Of) => Of;
  checkOpen: () => void;
}

/** The guarded thing for the length of one call of the user's function. */
export interface GuardedTransaction<Target> {
  /** Each use of it, and of what it returns, fails after `end`, and after SQL that would have ended the transaction. */
  readonly guarded: Target;
  /** Throws `transaction_ended` when such SQL was refused, also if the user caught that. */
  checkKept(): void;
  end(): void;
}

export function guardTransaction<Target extends object>(target: Target, rules: GuardRules): GuardedTransaction<Target> {
  let isOpen = true;
  let hasTriedToEnd = false;

  function checkOpen(): void {
    if (!isOpen) throw transactionClosed(rules);
    // A write from now on would be outside the transaction, or without what was refused.
    if (hasTriedToEnd || rules.isInTransaction?.() === false) throw transactionEnded(rules);
  }

  function call(of: object, method: string | symbol, args: unknown[]): unknown {
    try {
      if (of === target) rules.checkCall(method, args[0]);
      return Reflect.apply(Reflect.get(of, method) as (...given: unknown[]) => unknown, of, args);
    } catch (error) {
      hasTriedToEnd ||= isPigeonholeError(error, "transaction_ended");
      throw error;
    }
  }

  function guard<Of extends object>(of: Of): Of {
    // Some properties are read-only, and a proxy must not return another value for such a property of its target.
    const standIn = (typeof of === "function" ? () => undefined : {}) as Of;
    const own: Of = new Proxy(standIn, {
      get(_, property) {
        checkOpen();
        const value: unknown = Reflect.get(of, property, of);
        if (value === target) return guarded;
        if (typeof value !== "function") return value;
        if (rules.idle?.includes(property) === true) return () => undefined;
        return (...args: unknown[]): unknown => {
          checkOpen();
          const result = call(of, property, args);
          if (result === of) return own;
          return rules.guardResult?.(property, result, { guard, checkOpen }) ?? result;
        };
      },
      apply(_, self, args) {
        checkOpen();
        return Reflect.apply(of as unknown as (...given: unknown[]) => unknown, self, args);
      },
      // What libraries look at, such as the class, is that of the target.
      has: (_, property) => Reflect.has(of, property),
      getPrototypeOf: () => Reflect.getPrototypeOf(of),
    });
    return own;
  }

  const guarded = guard(target);
  return {
    get guarded() {
      checkOpen();
      return guarded;
    },
    checkKept() {
      if (hasTriedToEnd) throw transactionEnded(rules);
    },
    end: () => void (isOpen = false),
  };
}

function transactionClosed({ name, what }: GuardRules): PigeonholeError {
  return new PigeonholeError(
    "transaction_closed",
    `${what} was used after ${name} had ended; use it inside its function${what === "tx.db" ? "" : ", and await what it returns"}.`,
  );
}

/** For a ctx.commit of work that another holder has by now. */
export function leaseLost({ handler }: Lease): PigeonholeError {
  return new PigeonholeError("lease_lost", `The lease of handler "${handler}" has ended; nothing was written.`);
}

/** For a transaction that SQL of the user has ended, or would have. */
export function transactionEnded({ name, what }: Pick<GuardRules, "name" | "what">, cause?: unknown): PigeonholeError {
  const part = what === "tx.db" ? "tx.db.transaction()" : "SAVEPOINT";
  return new PigeonholeError(
    "transaction_ended",
    `SQL that begins or ends a transaction was given to ${what}, so nothing of this ${name} is kept. Leave out BEGIN, COMMIT, ROLLBACK and OR ROLLBACK; throw to undo everything, or use ${part} for a part.`,
    cause === undefined ? undefined : { cause },
  );
}
