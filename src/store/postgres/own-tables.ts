import { LOCKED } from "./advisory-lock.js";
import { callWithClient, endByCommit, failedInside, type PostgresTransaction } from "./call-with-client.js";
import type { SharedPool } from "./shared-pool.js";
import { Sql, type Statements } from "./sql.js";
import { asPostgresError } from "./store-error.js";

interface TablesSetup {
  pool: SharedPool;
  statements: Statements;
  lockClass: number;
  setup: (tx: PostgresTransaction) => unknown;
}

/**
 * Makes or migrates the user's own tables in one transaction, on a client of the pool; of several processes, one after
 * the other. Rejects with what `setup` throws; then nothing is written.
 */
export async function setUpTables({ pool, statements, lockClass, setup }: TablesSetup): Promise<void> {
  const { client, giveBack } = await pool.borrow("setup");
  const sql = new Sql(client, statements);
  try {
    await begin(sql, lockClass);
    await callWithClient(client, { fn: setup, name: "setup" });
    if ((await endByCommit(client)) !== "COMMIT") throw failedInside("setup");
  } finally {
    // An open transaction ends with its connection, and so do settings that the user's statements made.
    giveBack(true);
  }
}

async function begin(sql: Sql, lockClass: number): Promise<void> {
  try {
    await sql.begin();
    await sql.run("SELECT pg_advisory_xact_lock(:lockClass, :of)", { lockClass, of: LOCKED.setup });
  } catch (error) {
    throw asPostgresError(error, "setup");
  }
}
