import type { Database } from "better-sqlite3";
import { PigeonholeError } from "../../base/error.js";
import type { CommitFunction } from "../commit-transaction.js";
import type { Lease, Settlement } from "../work.js";
import { FROM_OWN_PAIR, prepareAddRow } from "./direct-pairs.js";
import { findFileLoss } from "./find-file-loss.js";
import { onFirstUse, prepareLater } from "./on-first-use.js";
import type { OpenFiles } from "./open-files.js";
import { prepareAddDone } from "./operations/counts.js";
import { type DirectEnds, prepareSettle } from "./operations/settle.js";
import { asStoreError, isBreaking, isOfDatabase } from "./store-error.js";
import { transactionEnded } from "./statement-check.js";
import { callWithDatabase } from "./call-with-database.js";

/** One `ctx.commit` that waits for its turn. */
export interface UserCommit {
  settlement: Settlement & { to: "done" };
  fn: CommitFunction<unknown>;
  resolve(): void;
  reject(error: unknown): void;
  /** It shared a transaction whose COMMIT failed because of one of them; no other one shares its next. */
  isAlone?: boolean;
}

/** The result of one transaction for several commits. */
export interface UserTurn {
  /** Leases whose work is done and on the disk. */
  ended: Lease[];
  /** Commits to be run again, each alone. */
  again: UserCommit[];
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
 * Runs waiting `ctx.commit`s in one transaction on the caller's connection: fence, the user's writes, the done mark.
 * Each has its own savepoint, so one that throws does not affect the others; all share one wait for the disk. If the
 * SQL of one ends the transaction, that one is refused and the others run again without it, as nothing of theirs was
 * written. Waits for the disk once: what has to be committed by itself is returned, for turns of its own.
 */
export function createUserCommits({
  db,
  files,
  onBreaking,
}: UserCommitDeps): (commits: readonly UserCommit[]) => UserTurn {
  const runTogether = onFirstUse(() => prepareTurn(db));

  function runTurn(commits: readonly UserCommit[]): UserTurn {
    if (commits.length === 0) return { ended: [], again: [] };
    try {
      const turn = runTogether(commits);
      if ("endedBy" in turn) {
        turn.endedBy.reject(turn.error);
        return runTurn(commits.filter((commit) => commit !== turn.endedBy));
      }
      const loss = files === undefined ? undefined : findFileLoss(db, files);
      if (loss !== undefined) throw loss;
      return { ended: answerAll(commits, turn.failures), again: [] };
    } catch (error) {
      const failure = asStoreError(error, "ctx.commit");
      if (isBreaking(failure)) onBreaking(failure);
      // A failure at COMMIT, such as a deferred foreign key of the user's, is caused by one of them.
      const isCausedByOne = commits.length > 1 && !isBreaking(failure) && !isOfDatabase(failure);
      if (isCausedByOne) return { ended: [], again: commits.map((commit) => ({ ...commit, isAlone: true })) };
      for (const commit of commits) commit.reject(failure);
      return { ended: [], again: [] };
    }
  }

  return runTurn;
}

/** Resolves or rejects each commit; returns the leases of those that were committed. */
function answerAll(commits: readonly UserCommit[], failures: readonly ({ error: unknown } | undefined)[]): Lease[] {
  const ended: Lease[] = [];
  for (const [index, commit] of commits.entries()) {
    const failure = failures[index];
    if (failure === undefined) {
      ended.push(commit.settlement);
      commit.resolve();
    } else {
      commit.reject(failure.error);
    }
  }
  return ended;
}

/** One transaction for several commits. Throws errors of the database and of the COMMIT. */
function prepareTurn(db: Database): (commits: readonly UserCommit[]) => Turn {
  const settle = prepareSettle(db, prepareSingleEnds(db));
  const addDone = prepareAddDone(db);

  const runOne = db.transaction(({ settlement, fn }: UserCommit): void => {
    // The fence comes first: when the lease is lost, the user's function does not run at all.
    if (settle(settlement) === "lost") {
      throw new PigeonholeError(
        "lease_lost",
        `The lease of handler "${settlement.handler}" has ended; nothing was written.`,
      );
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
    addDone(failures.filter((failure) => failure === undefined).length);
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
      return { endedBy: commit, error: transactionEnded("ctx.commit", cause) };
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

/** The writer may have given the pair a row meanwhile, so only the database knows. The pair gets a mark of its own. */
function prepareSingleEnds(db: Database): DirectEnds {
  const addMark = prepareLater(db)<Lease & { at: number }>(`
    INSERT INTO inbox_mark (handler, first, last, settled_at)
    SELECT handler, seq, seq, :at ${FROM_OWN_PAIR}`);
  return {
    end: ({ seq, handler, token }, at) => addMark().run({ seq, handler, token, at }).changes === 1,
    addRow: prepareAddRow(db),
  };
}
