import * as z from "zod";

/** Variables that say where the inbox is. */
export const databaseVariables = { DATABASE_FILE: z.string().default("data/inbox.db") };
