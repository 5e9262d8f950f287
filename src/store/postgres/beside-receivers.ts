import type { Sql } from "./sql.js";

/** Reads and changes of a person beside the receivers; each change is one transaction. */
export interface BesideReceivers {
  /** The database's time, in milliseconds since 1970. */
  readonly now: (sql: Sql) => Promise<number> | number;
  readonly read: <Value>(doing: string, use: (sql: Sql) => Promise<Value>) => Promise<Value>;
  readonly write: <Value>(doing: string, use: (sql: Sql, now: number) => Promise<Value>) => Promise<Value>;
}

/** Rows of one transaction, which holds their locks. */
export const PAGE_ROWS = 200;

/** Pages of at most {@link PAGE_ROWS} rows, each read after the last row of the page before. */
export async function* pagesOf<Row>(readPage: (after: Row | undefined) => Promise<Row[]>): AsyncGenerator<Row[]> {
  let after: Row | undefined;
  for (let isLeft = true; isLeft;) {
    const page = await readPage(after);
    if (page.length > 0) yield page;
    isLeft = page.length === PAGE_ROWS;
    after = page.at(-1) ?? after;
  }
}
