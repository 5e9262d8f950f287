import { PigeonholeError } from "../base/error.js";
import { LOCKED, lockClassOf } from "./postgres/advisory-lock.js";
import { CREATE_LIST } from "./postgres/migrate-schema.js";
import { inSchema } from "./postgres/in-schema.js";
import { POSTGRES_MIGRATIONS } from "./postgres/migrations.js";
import { SCHEMA_NAME_RULE, isSchemaName } from "./connection-string.js";

/** Which SQL is written. */
export interface SchemaSqlRequest {
  /** Name of the schema. */
  schema: string;
  /** The version that the tables have already; 0 for none. */
  from: number;
  /** The user of the store, who gets the rights that it needs. */
  grantTo: string | undefined;
}

/**
 * The SQL that makes the tables of the store on PostgreSQL, or brings them up to date, as the store itself does it:
 * for an administrator, where the user of the store may not. Throws `invalid_argument` for a name or a version that
 * cannot be.
 */
export function writeSchemaSql({ schema, from, grantTo }: SchemaSqlRequest): string {
  checkRequest({ schema, from });
  const named = `"${schema}"`;
  const applied = POSTGRES_MIGRATIONS.map((sql, index) => ({ sql, version: index + 1 })).filter(
    ({ version }) => version > from,
  );
  return [
    "BEGIN;",
    `SELECT pg_advisory_xact_lock(${lockClassOf(schema)}, ${LOCKED.migration});`,
    ...(from === 0 ? [`CREATE SCHEMA IF NOT EXISTS ${named};`, `${inSchema(CREATE_LIST.trim(), schema)};`] : []),
    ...applied.flatMap(({ sql, version }) => [
      inSchema(sql.trim(), schema),
      `INSERT INTO ${named}.migration (version) VALUES (${version});`,
    ]),
    ...(grantTo === undefined ? [] : rightsOf(named, `"${grantTo.replaceAll('"', '""')}"`)),
    "COMMIT;",
  ].join("\n");
}

function checkRequest({ schema, from }: { schema: string; from: number }): void {
  if (!isSchemaName(schema)) {
    throw new PigeonholeError("invalid_argument", `The schema must ${SCHEMA_NAME_RULE}.`);
  }
  if (from > POSTGRES_MIGRATIONS.length) {
    throw new PigeonholeError(
      "invalid_argument",
      `Version ${from} of the tables is newer than this version of pigeonhole, which knows ${POSTGRES_MIGRATIONS.length}.`,
    );
  }
}

function rightsOf(schema: string, user: string): string[] {
  return [
    `GRANT USAGE ON SCHEMA ${schema} TO ${user};`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${user};`,
    `GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${user};`,
    `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${schema} TO ${user};`,
  ];
}
