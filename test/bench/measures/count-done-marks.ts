import { existsSync } from "node:fs";
import Database from "better-sqlite3";

/** Events that a database of ours says are done; undefined when the file is not one of ours. */
export function countDoneMarks(file: string): number | undefined {
  if (!existsSync(file)) return undefined;
  const db = new Database(file);
  try {
    const ours = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'inbox_done'").get() !== undefined;
    return ours ? db.prepare<[], number>("SELECT count(*) FROM inbox_done").pluck().get() : undefined;
  } finally {
    db.close();
  }
}
