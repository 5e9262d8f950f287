import { existsSync, realpathSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { checkInboxFile } from "./check-inbox-file.js";
import { checkNotEmptied } from "./open-files.js";
import { isNotADatabase, openDatabase, openKeeper } from "./open-database.js";

/** A connection beside a receiver, which may run in another process. */
export interface OutsideConnection {
  readonly db: Database;
  /** True when there was a WAL already, which may belong to a running receiver. */
  readonly keepsWal: boolean;
  /** Leaves the WAL of a receiver where it is. */
  close(): void;
}

/**
 * Opens a receiver's database for reading and small changes. Throws as {@link checkInboxFile} does. If there is a WAL,
 * it may belong to a running receiver that has lost its locks; SQLite would treat this connection as the last one and
 * delete that WAL at the close, which a keeper prevents. Without a WAL no process has the file open, and SQLite removes
 * what it creates for this connection.
 */
export function openOutsideConnection(file: string): OutsideConnection {
  checkNotEmptied(file);
  const keeper = keepWal(file);
  try {
    checkInboxFile(file);
    const db = openDatabase(file);
    return {
      db,
      keepsWal: keeper !== undefined,
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
    // The check reports it with a better message.
    if (isNotADatabase(error)) return undefined;
    throw error;
  }
}
