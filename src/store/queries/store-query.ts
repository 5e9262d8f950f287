/** A statement with named parameters, in the words of PostgreSQL: tables are in the schema `pigeonhole`. */
export interface QueryStatement {
  sql: string;
  values: object;
}

/** The rows that a statement returned, and how many rows it returned or changed. */
export interface StatementAnswer {
  rows: object[];
  count: number;
}

/**
 * Work on a database, written once for both: it yields its statements one after the other, and is given the answer to
 * each. A driver runs it (`sqlite/run-in-file.ts`, `postgres/sql.ts`), in one transaction where it writes.
 */
export type StoreQuery<Value> = Generator<QueryStatement, Value, StatementAnswer>;

export function* readRows<Row extends object>(sql: string, values: object = {}): StoreQuery<Row[]> {
  return (yield { sql, values }).rows as Row[];
}

export function* readFirst<Row extends object>(sql: string, values: object = {}): StoreQuery<Row | undefined> {
  return (yield* readRows<Row>(sql, values))[0];
}

export function* exists(sql: string, values: object): StoreQuery<boolean> {
  return (yield { sql, values }).rows.length > 0;
}

/** The number of rows that the statement changed. */
export function* run(sql: string, values: object): StoreQuery<number> {
  return (yield { sql, values }).count;
}

/** Locks events until the transaction ends, in one order, so that two transactions never wait for each other. */
export function lockEvents(seqs: readonly number[]): StoreQuery<object[]> {
  const events = "SELECT seq FROM pigeonhole.inbox_event WHERE seq = ANY(:seqs::bigint[])";
  return readRows(`${events} ORDER BY seq FOR UPDATE`, { seqs });
}

/**
 * Parts of statements about columns that only a server has, where several processes run the handlers and make the
 * calls. They are left out on SQLite.
 */
export const SERVER_COLUMNS = {
  whenForKey: "WHEN w.waits_for_key THEN 'key' ",
  noKey: "key = NULL, waits_for_key = false, ",
  ofProcess: "process = :process, ",
  noProcess: "process = NULL, ",
} as const;

/** Work that waits for a time. That which waits for a key is found by the key; on SQLite there is none. */
export const WAITS = "state = 'pending' AND NOT waits_for_key";
