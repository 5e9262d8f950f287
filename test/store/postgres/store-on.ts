import type { Pool, PoolClient } from "pg";
import { onTestFinished } from "vitest";
import {
  type PostgresStore,
  type PostgresStoreOptions,
  createPostgresStore,
} from "#pigeonhole/store/postgres/postgres-store.js";
import type { StoreContext } from "#pigeonhole/store/store.js";
import type { TestDatabase } from "../../support/postgres-server.js";
import { context, T } from "../conformance/new-event.js";

/** An open store on the database, closed after the test; its tables are dropped then. */
export async function openStore(
  database: TestDatabase,
  of: Pool | string = database.pool,
  options: Partial<PostgresStoreOptions> = {},
  change: Partial<StoreContext> = {},
): Promise<PostgresStore> {
  const given = typeof of === "string" ? { connectionString: of } : { pool: of };
  const { schema = database.schema } = options;
  const store = createPostgresStore({ ...given, ...options, schema });
  onTestFinished(async () => {
    await store.close();
    await database.pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  });
  await store.open({ ...context, ...change });
  await store.recover(T);
  return store;
}

/** A client of the application, given back after the test. */
export async function borrowClient(pool: Pool): Promise<PoolClient> {
  const client = await pool.connect();
  client.on("error", () => undefined);
  onTestFinished(() => client.release(true));
  return client;
}
