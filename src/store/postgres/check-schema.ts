import { PigeonholeError } from "../../base/error.js";
import { POSTGRES_MIGRATIONS } from "./migrations.js";
import { readVersion, refuseNewer } from "./migrate-schema.js";
import type { Sql } from "./sql.js";

/** Refuses a schema that has no tables of ours, or those of another version, without changing it: for a look beside. */
export async function checkSchema(sql: Sql, { schema, database }: { schema: string; database: string }): Promise<void> {
  const version = await readVersion(sql, schema);
  if (version === undefined) {
    throw new PigeonholeError(
      "invalid_argument",
      `${database} has no inbox in the schema ${schema}. Start its receiver once, or name another schema at the end of the URL, as in postgres://db.example.com/app#schema.`,
    );
  }
  refuseNewer(schema, version);
  if (version < POSTGRES_MIGRATIONS.length) {
    throw new PigeonholeError(
      "schema_too_old",
      `The schema ${schema} of ${database} has the older version ${version}. Start its receiver once with this version, which brings it up to date.`,
    );
  }
}
