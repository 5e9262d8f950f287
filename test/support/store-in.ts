import { join } from "node:path";
import Database from "better-sqlite3";
import { type Store, createSqliteStore } from "pigeonhole";
import { makeFolder } from "./folder.js";

/** The store in a file without its thread, which takes longer to start than most tests that are not about it. */
export const storeIn = (file: string): Store => createSqliteStore({ file, thread: false });

/** The real store with some of its methods replaced. */
export function decorateStore(over: (real: Store) => Partial<Store>, file = ":memory:"): Store {
  const real = storeIn(file);
  return { ...real, ...over(real) };
}

/** The path of a database in a folder that is removed when the test ends. */
export function tempFile(): string {
  return join(makeFolder(), "inbox.db");
}

/** A file with a table of the user's own. */
export function tempFileWithTable(): string {
  const file = tempFile();
  const db = new Database(file);
  db.exec("CREATE TABLE effect (what TEXT NOT NULL)");
  db.close();
  return file;
}

/** What the user's table holds, read by a connection of its own. */
export function effectsIn(file: string): string[] {
  const db = new Database(file, { readonly: true });
  try {
    return db.prepare<[], string>("SELECT what FROM effect ORDER BY rowid").pluck().all();
  } finally {
    db.close();
  }
}
