import { expect } from "vitest";
import { migrate, openDatabase } from "#pigeonhole/store/sqlite/open-database.js";

/** Uses a database in memory that has the tables of a store and nothing in them. */
export function withDatabase<Result>(use: (db: ReturnType<typeof openDatabase>) => Result): Result {
  const db = openDatabase(":memory:");
  try {
    migrate(db, ":memory:");
    return use(db);
  } finally {
    db.close();
  }
}

/** Expects a check of the tables to refuse `sql` after `setUp`. */
export function expectRefusal(setUp: string, sql: string): void {
  withDatabase((db) => {
    db.exec(setUp);
    expect(() => db.exec(sql), sql).toThrow(/constraint failed|cannot store/);
  });
}
