import { OPEN_WORK } from "./operations/open-work.js";

/** SQL that is written for the schema `pigeonhole`, for another one. */
export function inSchema(sql: string, schema: string): string {
  return sql
    .replaceAll("pigeonhole.open_work", OPEN_WORK)
    .replaceAll("pigeonhole.failed_work", "pigeonhole.inbox_work")
    .replaceAll("pigeonhole.", `"${schema}".`);
}
