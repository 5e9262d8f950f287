import type { Database } from "better-sqlite3";

/** What `ctx.commit` passes to the user's function on SQLite; usable only until that function returns. */
export interface CommitTransaction {
  /** The inbox's own database, inside the open transaction. Your tables live in the same file. */
  readonly db: Database;
}

/** What the compiler's message says about a function that has not run to its end when it returns. */
type MustBeSynchronous =
  "The function must not return a promise, a generator or an iterator: await before, and only use the database inside.";

/**
 * Nothing, or any value of a function that has run to its end. An object's `valueOf` only makes the type one that
 * objects have.
 */
export type Finished = void | null | { readonly then?: never; readonly next?: never; valueOf(): unknown };

/** A promise, or a generator or iterator: the rest of the function would run after the transaction. */
export type NotEnded = { then: (...args: never[]) => unknown } | { next: (...args: never[]) => unknown };

/**
 * The user's own writes. Synchronous on SQLite: the compiler refuses a function that returns a promise, a generator or
 * an iterator, and so does `ctx.commit`, which then writes nothing. On PostgreSQL it returns a promise, which is
 * awaited. `Result` is what the function returns, which is otherwise ignored; `Tx` is what the store passes to it.
 */
export type CommitFunction<Result = Finished, Tx = CommitTransaction> = (
  tx: Tx,
) => Tx extends CommitTransaction ? FinishedResult<Result> : PromiseLike<unknown>;

/** Refuses also what is unfinished in one of several cases. */
type FinishedResult<Result> = Result extends NotEnded ? MustBeSynchronous : Result;
