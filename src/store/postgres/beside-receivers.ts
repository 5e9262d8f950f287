import type { Sql } from "./sql.js";

/** Reads and changes of a person beside the receivers; each change is one transaction. */
export interface BesideReceivers {
  /** The database's time, in milliseconds since 1970. */
  readonly now: (sql: Sql) => Promise<number> | number;
  readonly read: <Value>(doing: string, use: (sql: Sql) => Promise<Value>) => Promise<Value>;
  readonly write: <Value>(doing: string, use: (sql: Sql, now: number) => Promise<Value>) => Promise<Value>;
}
