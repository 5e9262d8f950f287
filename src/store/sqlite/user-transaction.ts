import type { Database } from "better-sqlite3";
import { PigeonholeError } from "../../base/error.js";
import type { CommitFunction, CommitTransaction } from "../commit-transaction.js";
import type { Settlement } from "../work.js";
import { findFault } from "./find-fault.js";
import type { OpenFiles } from "./open-files.js";
import { prepareAddDone } from "./operations/counts.js";
import { prepareSettle } from "./operations/settle.js";
import { asStoreError, isBreaking } from "./store-error.js";
import { guardDatabase } from "./transaction-guard.js";

/** One `ctx.commit` that waits for its turn. */
export interface UserCommit {
  settlement: Settlement & { to: "done" };
  fn: CommitFunction;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Runs waiting `ctx.commit`s in one transaction on the caller's connection: fence, the user's writes, the done mark. Each has a
 * savepoint of its own, so one that throws leaves the others alone; all share one wait for the disk. `onBreaking` hears of an
 * error after which nothing may be written any more.
 */
export function createUserCommits({
  db,
  files,
  onBreaking,
}: {
  db: Database;
  files: OpenFiles | undefined;
  onBreaking: (error: PigeonholeError) => void;
}): (commits: readonly UserCommit[]) => void {
  const settle = prepareSettle(db);
  const addDone = prepareAddDone(db);
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
        // A full disk makes SQLite roll back the whole transaction; what ran after that would be on its own.
        if (!db.inTransaction) throw error;
        return () => commit.reject(error);
      }
    });
    addDone(done);
    return answers;
  });

  return (commits) => {
    try {
      const answers = runTogether.immediate(commits);
      const fault = files === undefined ? undefined : findFault(db, files);
      if (fault !== undefined) throw fault;
      for (const answer of answers) answer();
    } catch (error) {
      const failure = asStoreError(error, "ctx.commit");
      if (isBreaking(failure)) onBreaking(failure);
      for (const commit of commits) commit.reject(failure);
    }
  };
}

/** Hands out the database for the length of one synchronous call. */
function callWithRevocable(db: Database, fn: CommitFunction): void {
  const guarded = guardDatabase(db);
  const tx: CommitTransaction = {
    get db() {
      return guarded.db;
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
    guarded.end();
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
