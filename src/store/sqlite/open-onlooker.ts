import { existsSync, realpathSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { checkInboxFile } from "./check-inbox-file.js";
import { isNotADatabase, openDatabase, openKeeper } from "./open-database.js";

/** A connection beside a receiver, which may run in another process. */
export interface Onlooker {
  readonly db: Database;
  /** Leaves the WAL of a receiver where it is. */
  close(): void;
}

/**
 * Opens a receiver's database for reading and small changes. Throws as {@link checkInboxFile} does. Where a WAL is, a receiver may be
 * running that has lost its locks; SQLite would take this connection for the last one and delete that WAL at the close, which a
 * keeper prevents. Without a WAL nobody has the file open, and what SQLite makes for this connection is removed with it.
 */
export function openOnlooker(file: string): Onlooker {
  const keeper = keepWal(file);
  try {
    checkInboxFile(file);
    const db = openDatabase(file);
    return {
      db,
      close() {
        db.close();
        keeper?.close();
      },
    };
  } catch (error) {
    keeper?.close();
    throw error;
  }
}

function keepWal(file: string): Database | undefined {
  if (!existsSync(file) || !existsSync(`${realpathSync(file)}-wal`)) return undefined;
  try {
    return openKeeper(file);
  } catch (error) {
    // The check says it better.
    if (isNotADatabase(error)) return undefined;
    throw error;
  }
}
