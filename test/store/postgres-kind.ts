import type { Pool } from "pg";
import { isPigeonholeError } from "#pigeonhole/base/error.js";
import * as postgres from "#pigeonhole/store/postgres/postgres-store.js";
import type { PostgresTransaction } from "#pigeonhole/store/postgres/call-with-client.js";
import type { TestDatabase } from "../support/postgres-server.js";
import { faultsIn } from "./layout-faults.js";
import type { StoreKind, StoreUnderTest } from "./conformance/fixture.js";

/** Stores of a build of the package on the database of the file. */
export function postgresKind(
  database: TestDatabase,
  build: Pick<typeof postgres, "createPostgresStore"> = postgres,
): StoreKind<PostgresTransaction> {
  return {
    name: "PostgreSQL",
    page: 200,
    create: () => createOn(database, build),
    outlives: true,
    isShared: true,
    hasAsyncCommit: true,
    lateUses: [
      { name: "tx.client", keep: (tx) => () => tx.client },
      {
        name: "a kept tx.client",
        keep:
          ({ client }) =>
          () =>
            client.query("SELECT 1"),
      },
      { name: "a method taken from tx.client", keep: ({ client }) => keepQuery(Reflect.get(client, "query")) },
    ],
  };
}

function keepQuery(query: unknown): () => unknown {
  return () => (query as (sql: string) => unknown)("SELECT 1");
}

async function createOn(
  { pool, schema, url }: TestDatabase,
  { createPostgresStore }: Pick<typeof postgres, "createPostgresStore">,
): Promise<StoreUnderTest<PostgresTransaction>> {
  const written = "public.written";
  await pool.query(`CREATE TABLE IF NOT EXISTS ${written} (place serial, text text)`);
  const create = () => openPatiently(createPostgresStore({ pool, schema }));
  return {
    store: create(),
    another: create,
    place: `${url}#${schema}`,
    execute: async (sql) => void (await pool.query(sql.replaceAll("pigeonhole.", `${schema}.`))),
    async write({ client }, text) {
      await client.query(`INSERT INTO ${written} (text) VALUES ($1)`, [text]);
    },
    async written() {
      const { rows } = await pool.query<{ text: string }>(`SELECT text FROM ${written} ORDER BY place`);
      return rows.map(({ text }) => text);
    },
    faults: async () => (await pool.query(faultsIn(schema))).rows,
    dispose: () => empty(pool, schema, written),
  };
}

/** On a machine that is busy with other tests, a connection can take longer than a delivery may wait for one. */
function openPatiently(store: postgres.PostgresStore): postgres.PostgresStore {
  return {
    ...store,
    async open(context) {
      for (let tries = 1; ; tries += 1) {
        try {
          return await store.open(context);
        } catch (error) {
          if (!isPigeonholeError(error, "store_unreachable") || tries === 5) throw error;
        }
      }
    },
  };
}

/** Rows are few: to delete them is faster than TRUNCATE, which makes new files for every table and index. */
async function empty(pool: Pool, schema: string, written: string): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = $1 AND tablename <> 'migration'",
    [schema],
  );
  await pool.query([written, ...rows.map(({ name }) => name)].map((name) => `DELETE FROM ${name}`).join("; "));
}
