import { setTimeout as sleep } from "node:timers/promises";
import { MINUTE } from "../../base/duration.js";
import { PigeonholeError } from "../../base/error.js";
import { LOCKED } from "./advisory-lock.js";
import { POSTGRES_MIGRATIONS } from "./migrations.js";
import type { Sql } from "./sql.js";
import { sqlStateOf } from "./store-error.js";

export const CREATE_LIST = `
  CREATE TABLE pigeonhole.migration (
    version    integer     PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT now()
  )`;

/** A schema, and the first half of its advisory locks. */
export interface SchemaLock {
  schema: string;
  lockClass: number;
}

/** Statements of processes that run queue behind a change that waits, for less time than they may wait for a lock. */
const LOCK_TIMEOUT = "500ms";
const PAUSE_MS = 500;
/** A `ctx.commit` holds its tables until it ends. */
const TRY_FOR_MS = 2 * MINUTE;

/**
 * Brings the tables up to date in one transaction; of several processes, one does it and the others wait. A change of
 * tables that others use is tried again until it finds them free.
 */
export async function migrateSchema(sql: Sql, of: SchemaLock): Promise<void> {
  const until = performance.now() + TRY_FOR_MS;
  for (;;) {
    try {
      return await applyMigrations(sql, of);
    } catch (error) {
      if (sqlStateOf(error) !== "55P03" || performance.now() > until) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

function applyMigrations(sql: Sql, { schema, lockClass }: SchemaLock): Promise<void> {
  return sql.transaction(async () => {
    await sql.run("SELECT pg_advisory_xact_lock(:lockClass, :of)", { lockClass, of: LOCKED.migration });
    const version = await readVersion(sql, schema);
    if (version === undefined) await changing(schema, () => createSchema(sql, schema));
    await sql.script(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
    for (const [index, migration] of POSTGRES_MIGRATIONS.entries()) {
      if (index < (version ?? 0)) continue;
      await changing(schema, () => sql.script(migration));
      await sql.run("INSERT INTO pigeonhole.migration (version) VALUES (:version)", { version: index + 1 });
    }
  });
}

/** Refuses tables that are missing or not up to date, for a user who may not change them. */
export async function requireSchema(sql: Sql, schema: string): Promise<void> {
  const version = await readVersion(sql, schema);
  if (version === undefined) throw tooOld(`The database has no tables in the schema ${schema}`, schema);
  if (version < POSTGRES_MIGRATIONS.length)
    throw tooOld(`The schema ${schema} has the older version ${version}`, schema);
}

/** Refuses a schema that has no tables of ours, or those of another version, without changing it: for a look beside. */
export async function checkSchema(sql: Sql, { schema, database }: { schema: string; database: string }): Promise<void> {
  const version = await readVersion(sql, schema);
  if (version === undefined) {
    throw new PigeonholeError(
      "invalid_argument",
      `${database} has no inbox in the schema ${schema}. Start its receiver once, or name another schema at the end of the URL, as in postgres://db.example.com/app#schema.`,
    );
  }
  if (version < POSTGRES_MIGRATIONS.length) {
    throw new PigeonholeError(
      "schema_too_old",
      `The schema ${schema} of ${database} has the older version ${version}. Start its receiver once with this version, which brings it up to date.`,
    );
  }
}

/** Changes tables; says what to do when the user may not. */
async function changing(schema: string, change: () => Promise<void>): Promise<void> {
  try {
    await change();
  } catch (error) {
    if (sqlStateOf(error) !== "42501") throw error;
    throw tooOld(`The user of the store may not make or change the tables in the schema ${schema}`, schema);
  }
}

function tooOld(what: string, schema: string): PigeonholeError {
  const named = schema === "pigeonhole" ? "" : ` --schema ${schema}`;
  return new PigeonholeError(
    "schema_too_old",
    `${what}. Let an administrator run the SQL that "npx pigeonhole postgres schema${named} --grant <user>" prints, before this version starts.`,
  );
}

/** An administrator may have made the schema, for a user who has no right to. */
async function createSchema(sql: Sql, schema: string): Promise<void> {
  const isThere = await sql.row("SELECT 1 AS found WHERE to_regnamespace(:schema) IS NOT NULL", {
    schema: `"${schema}"`,
  });
  if (isThere === undefined) await sql.script(`CREATE SCHEMA "${schema}"`);
  await sql.script(CREATE_LIST);
}

/**
 * Undefined when there are no tables yet. Throws `schema_too_new` for tables of a newer version of the package, and
 * `not_a_pigeonhole_database` for those of another program.
 */
async function readVersion(sql: Sql, schema: string): Promise<number | undefined> {
  const tables = await sql.rows<{ name: string }>(
    "SELECT relname::text AS name FROM pg_class WHERE relnamespace = to_regnamespace(:schema) AND relkind IN ('r', 'p')",
    { schema: `"${schema}"` },
  );
  if (tables.length === 0) return undefined;
  const names = tables.map(({ name }) => name);
  if (!names.includes("migration") || !names.includes("inbox_event")) {
    throw new PigeonholeError(
      "not_a_pigeonhole_database",
      `The schema ${schema} has tables of another program; give the store another schema.`,
    );
  }
  const row = await sql.row<{ version: number }>(
    "SELECT coalesce(max(version), 0) AS version FROM pigeonhole.migration",
  );
  const { version = 0 } = row ?? {};
  if (version <= POSTGRES_MIGRATIONS.length) return version;
  throw new PigeonholeError(
    "schema_too_new",
    `The schema ${schema} has version ${version}; this version of pigeonhole knows ${POSTGRES_MIGRATIONS.length}. Install the newer package again.`,
  );
}
