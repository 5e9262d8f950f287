/**
 * Work that is not done, as rows of FROM: by its indexes, so that the rows of what is done are not read. A condition on
 * its state or number is one on each half.
 */
const OPEN_WORK = `(
    SELECT * FROM pigeonhole.inbox_work WHERE state IN ('pending', 'dead', 'parked')
    UNION ALL SELECT * FROM pigeonhole.inbox_work WHERE state = 'leased')`;

/** SQL that is written for the schema `pigeonhole`, for another one. */
export function inSchema(sql: string, schema: string): string {
  return sql
    .replaceAll("pigeonhole.open_work", OPEN_WORK)
    .replaceAll("pigeonhole.failed_work", "pigeonhole.inbox_work")
    .replaceAll("pigeonhole.", `"${schema}".`);
}
