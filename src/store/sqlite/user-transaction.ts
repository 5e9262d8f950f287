import type { Database } from "better-sqlite3";
import type { PigeonholeError } from "../../base/error.js";
import type { CommitFunction } from "../commit-transaction.js";
import { leaseLost, transactionEnded } from "../guard-transaction.js";
import type { DoneSettlement } from "../work.js";
import { findFileLoss } from "./find-file-loss.js";
import { onFirstUse } from "./on-first-use.js";
import type { OpenFiles } from "./open-files.js";
import { prepareAddDone, prepareSettle } from "./operations/settle.js";
import { asStoreError, isBreaking, isOfDatabase } from "./store-error.js";
import { callWithDatabase } from "./call-with-database.js";

/** One `ctx.commit` that waits for its turn. */
export interface UserCommit {
  settlements: readonly DoneSettlement[];
  fn: CommitFunction<unknown>;
  resolve(): void;
  reject(error: unknown): void;
  /** It shared a transaction whose COMMIT failed because of one of them; no other one shares its next. */
  isAlone?: boolean;
}

interface UserCommitDeps {
  db: Database;
  /** Undefined in memory. */
  files: OpenFiles | undefined;
  /** Called with an error after which nothing more may be written. */
  onBreaking: (error: PigeonholeError) => void;
}

/** The result of one transaction for several commits: what each threw, or the one whose SQL ended it for all. */
type Turn = { failures: ({ error: unknown } | undefined)[] } | { endedBy: UserCommit; error: PigeonholeError };

/**
 * Runs waiting `ctx.commit`s in one transaction on the caller's connection: fence, done, the user's writes.
 * Each has its own savepoint, so one that throws does not affect the others; all share one wait for the disk. If the
 * SQL of one ends the transaction, that one is refused and the others run again without it, as nothing of theirs was
 * written. Waits for the disk once: returns what has to be committed by itself, in turns of its own.
 */
export function createUserCommits({
  db,
  files,
  onBreaking,
}: UserCommitDeps): (commits: readonly UserCommit[]) => UserCommit[] {
  const runTogether = onFirstUse(() => prepareTurn(db));

  function runTurn(commits: readonly UserCommit[]): UserCommit[] {
    if (commits.length === 0) return [];
    try {
      const turn = runTogether(commits);
      if ("endedBy" in turn) {
        turn.endedBy.reject(turn.error);
        return runTurn(commits.filter((commit) => commit !== turn.endedBy));
      }
      const loss = files === undefined ? undefined : findFileLoss(db, files);
      if (loss !== undefined) throw loss;
      answerAll(commits, turn.failures);
      return [];
    } catch (error) {
      const failure = asStoreError(error, "ctx.commit");
      if (isBreaking(failure)) onBreaking(failure);
      // A failure at COMMIT, such as a deferred foreign key of the user's, is caused by one of them.
      const isCausedByOne = commits.length > 1 && !isBreaking(failure) && !isOfDatabase(failure);
      if (isCausedByOne) return commits.map((commit) => ({ ...commit, isAlone: true }));
      for (const commit of commits) commit.reject(failure);
      return [];
    }
  }

  return runTurn;
}

function answerAll(commits: readonly UserCommit[], failures: readonly ({ error: unknown } | undefined)[]): void {
  for (const [index, commit] of commits.entries()) {
    const failure = failures[index];
    if (failure === undefined) commit.resolve();
    else commit.reject(failure.error);
  }
}

/** One transaction for several commits. Throws errors of the database and of the COMMIT. */
function prepareTurn(db: Database): (commits: readonly UserCommit[]) => Turn {
  const settle = prepareSettle(db);
  const addDone = prepareAddDone(db);

  const runOne = db.transaction(({ settlements, fn }: UserCommit): void => {
    // The fence comes first: when a lease is lost, the user's function does not run at all.
    for (const settlement of settlements) {
      if (settle(settlement) === "lost") throw leaseLost(settlement);
    }
    callWithDatabase(db, fn, "ctx.commit");
  });

  const runAll = db.transaction((commits: readonly UserCommit[]): ({ error: unknown } | undefined)[] => {
    const failures: ({ error: unknown } | undefined)[] = [];
    for (const commit of commits) {
      const failure = attempt(() => runOne(commit));
      // It can only have been rolled back, and no other one is there instead: SQL that begins or commits a
      // transaction is refused before it runs. After a rollback tx.db refuses all SQL; while a read inside the
      // user's function has begun a transaction, SQLite refuses writes.
      if (!db.inTransaction) throw new TurnEnded(commit, failure?.error);
      failures.push(failure);
    }
    addDone(
      commits.filter((_, index) => failures[index] === undefined).flatMap(({ settlements }) => settlements).length,
    );
    return failures;
  });

  return (commits) => {
    try {
      return { failures: runAll.immediate(commits) };
    } catch (thrown) {
      if (!(thrown instanceof TurnEnded)) throw thrown;
      const { commit, cause } = thrown;
      // SQLite itself ends a transaction when the disk is full or fails; the user's SQL is not the cause.
      if (isBreaking(cause) || isOfDatabase(asStoreError(cause, "ctx.commit"))) throw cause;
      return { endedBy: commit, error: transactionEnded({ name: "ctx.commit", what: "tx.db" }, cause) };
    }
  };
}

/** Leaves a transaction that has ended; later statements would run outside it. */
class TurnEnded extends Error {
  readonly commit: UserCommit;

  constructor(commit: UserCommit, cause: unknown) {
    super("The transaction is over.", { cause });
    this.commit = commit;
  }
}

function attempt(work: () => void): { error: unknown } | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return { error };
  }
}
