/** What {@link isSchemaName} asks for, after "must". */
export const SCHEMA_NAME_RULE = "be at most 63 lower-case letters, digits and underscores, and not begin with a digit";

/** Whether the name needs no quotes in SQL. */
export function isSchemaName(schema: unknown): schema is string {
  return typeof schema === "string" && /^[a-z_][a-z0-9_]{0,62}$/.test(schema);
}
