import type { Database } from "better-sqlite3";

/** What `ctx.commit` passes to the user's function; usable only until that function returns. */
export interface CommitTransaction {
  /** The inbox's own database, inside the open transaction. Your tables live in the same file. */
  readonly db: Database;
}

/** The user's own writes. Synchronous: a returned promise is refused and nothing is written. */
export type CommitFunction = (tx: CommitTransaction) => void;
