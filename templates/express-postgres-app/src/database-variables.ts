import * as z from "zod";

/** Variables that say where the inbox and your own tables are; the default is the database of compose.yaml. */
export const databaseVariables = {
  DATABASE_URL: z
    .string()
    .regex(/^postgres(?:ql)?:\/\//, "must be the URL of a PostgreSQL")
    .default("postgres://app:app@127.0.0.1:5432/app"),
};
