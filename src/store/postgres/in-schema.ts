/** SQL that is written for the schema `pigeonhole`, for another one. */
export function inSchema(sql: string, schema: string): string {
  return sql.replaceAll("pigeonhole.", `"${schema}".`);
}
