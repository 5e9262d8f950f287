import type { Pool } from "pg";
import { createPostgresStore, type PostgresStore } from "pigeonhole/postgres";

/** The tables in which deliveries are kept, in a schema of their own; made when the receiver starts. */
export function createStore(pool: Pool): PostgresStore {
  return createPostgresStore({ pool });
}
