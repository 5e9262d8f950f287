import type { Database } from "better-sqlite3";
import { PigeonholeError } from "../../base/error.js";
import type { CommitFunction, CommitTransaction } from "../commit-transaction.js";
import type { Settlement } from "../work.js";
import { prepareSettle } from "./operations/settle.js";
import { asStoreError } from "./store-error.js";

/** One `ctx.commit` that waits for its turn. */
export interface UserCommit {
  settlement: Settlement & { to: "done" };
  fn: CommitFunction;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Runs waiting `ctx.commit`s in one transaction on the caller's connection: fence, the user's writes, the done mark. Each has a
 * savepoint of its own, so one that throws leaves the others alone; all share one wait for the disk.
 */
export function createUserCommits(db: Database): (commits: readonly UserCommit[]) => void {
  const settle = prepareSettle(db);
  const addDone = db.prepare("UPDATE counter SET value = value + :done WHERE name = 'done'");
  const runOne = db.transaction(({ settlement, fn }: UserCommit): void => {
    // The fence comes first: when the lease is lost, the user's function does not run at all.
    if (settle(settlement) === "lost") {
      throw new PigeonholeError(
        "lease_lost",
        `The lease of handler "${settlement.handler}" has ended; nothing was written.`,
      );
    }
    callWithRevocable(db, fn);
  });

  const runTogether = db.transaction((commits: readonly UserCommit[]): (() => void)[] => {
    let done = 0;
    const answers = commits.map((commit) => {
      try {
        runOne(commit);
        done += 1;
        return () => commit.resolve();
      } catch (error) {
        return () => commit.reject(error);
      }
    });
    if (done > 0) addDone.run({ done });
    return answers;
  });

  return (commits) => {
    try {
      for (const answer of runTogether.immediate(commits)) answer();
    } catch (error) {
      for (const commit of commits) commit.reject(asStoreError(error, "ctx.commit"));
    }
  };
}

/** Hands out the database for the length of one synchronous call. */
function callWithRevocable(db: Database, fn: CommitFunction): void {
  let open = true;
  const checkOpen = (): void => {
    if (!open) throw closed();
  };
  const guardedDb = guard(db, checkOpen);
  const tx: CommitTransaction = {
    get db() {
      checkOpen();
      return guardedDb;
    },
  };
  try {
    const returned: unknown = fn(tx);
    if (isThenable(returned)) {
      // The rest of an async function would write outside the transaction; what it has written so far is undone.
      Promise.resolve(returned).catch(() => undefined);
      throw new PigeonholeError(
        "commit_async",
        "The function given to ctx.commit returned a promise. Do the asynchronous part before ctx.commit and only write inside it.",
      );
    }
  } finally {
    open = false;
  }
}

/** The same object, but every use of it, of its statements and of its functions asks `checkOpen` first. */
function guard<T extends object>(target: T, checkOpen: () => void): T {
  const guarded: T = new Proxy(target, {
    get(_, property) {
      checkOpen();
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        checkOpen();
        const result: unknown = Reflect.apply(value, target, args);
        if (result === target) return guarded;
        return isStatementOrFunction(result) ? guard(result, checkOpen) : result;
      };
    },
    apply(_, self, args) {
      checkOpen();
      return Reflect.apply(target as (...args: unknown[]) => unknown, self, args);
    },
  });
  return guarded;
}

/** What `prepare` and `transaction` return; rows and numbers pass as they are. */
function isStatementOrFunction(value: unknown): value is object {
  if (typeof value === "function") return true;
  return typeof value === "object" && value !== null && "source" in value && "database" in value;
}

function closed(): PigeonholeError {
  return new PigeonholeError(
    "transaction_closed",
    "tx.db was used after ctx.commit had ended; write inside its function.",
  );
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
