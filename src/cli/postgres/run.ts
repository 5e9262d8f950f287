import { writeSchemaSql } from "../../store/schema-sql.js";
import type { RunCommand } from "../frame/context.js";
import type { postgresSchema } from "./spec.js";

/** Prints the SQL of the tables; connects to nothing. */
// oxlint-disable-next-line require-await -- a throw must become a rejection
export const printSchema: RunCommand<typeof postgresSchema> = async ({ options, context }) => {
  const { schema, from, grant } = options;
  const sql = writeSchemaSql({ schema, from, grantTo: grant });
  context.out.result({ sql }, sql);
};
