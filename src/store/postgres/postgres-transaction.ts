import type { PoolClient } from "pg";

/** What `ctx.commit` passes to the user's function on PostgreSQL; usable only until that function has ended. */
export interface PostgresTransaction {
  /** A client of the pool, inside the open transaction. Your tables live in the same database. */
  readonly client: PoolClient;
}
