import type { Database } from "better-sqlite3";

/**
 * Deletes so that the pages which become free are overwritten too. Without it only what is deleted inside a page is,
 * which costs nothing; here each freed page is written once more. Calls are not nested: the inner one would end it.
 */
export function overwriting<Value>(db: Database, work: () => Value): Value {
  db.pragma("secure_delete = ON");
  try {
    return work();
  } finally {
    db.pragma("secure_delete = FAST");
  }
}
