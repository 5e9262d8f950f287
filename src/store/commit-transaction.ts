import type { Database } from "better-sqlite3";

/** What `ctx.commit` passes to the user's function on SQLite; usable only until that function returns. */
export interface CommitTransaction {
  /** The inbox's own database, inside the open transaction. Your tables live in the same file. */
  readonly db: Database;
}

/** What the compiler's message says about a function that returns a promise. */
type MustBeSynchronous =
  "The function given to ctx.commit must not return a promise: await before ctx.commit, and only write inside it.";

/** Nothing, or any value that is not a promise. An object's `valueOf` only makes the type one that objects have. */
type NoPromise = void | null | { readonly then?: never; valueOf(): unknown };

/**
 * The user's own writes. Synchronous on SQLite: the compiler refuses a function that returns a promise, and so does
 * `ctx.commit`, which then writes nothing. `Result` is what the function returns, which is ignored; `Tx` is what the
 * store passes to it.
 */
export type CommitFunction<Result = NoPromise, Tx = CommitTransaction> = (
  tx: Tx,
) => Tx extends CommitTransaction ? SynchronousResult<Result> : unknown;

type SynchronousResult<Result> = Result extends { then: (...args: never[]) => unknown } ? MustBeSynchronous : Result;
