import { existsSync, realpathSync } from "node:fs";
import Database from "better-sqlite3";
import { PigeonholeError } from "../../base/error.js";
import { connect } from "./connect.js";
import { MIGRATIONS } from "./migrations.js";
import { APPLICATION_ID, isNotADatabase, openDatabase, openKeeper } from "./open-database.js";
import { checkNotEmptied } from "./open-files.js";
import { asStoreError } from "./store-error.js";
import { BUSY_WAITS, whileBusy } from "../while-busy.js";

/** A connection beside a receiver, which may run in another process. */
export interface OutsideConnection {
  readonly db: Database.Database;
  /** True when there was a WAL already, which may belong to a running receiver. */
  readonly keepsWal: boolean;
  /** Leaves the WAL of a receiver where it is. */
  close(): void;
}

/**
 * Opens a receiver's database for reading and small changes. Throws as `checkInboxFile` does. If there is a WAL,
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

function keepWal(file: string): Database.Database | undefined {
  if (!existsSync(file) || !existsSync(`${realpathSync(file)}-wal`)) return undefined;
  try {
    return openKeeper(file);
  } catch (error) {
    // The check reports it with a better message.
    if (isNotADatabase(error)) return undefined;
    throw error;
  }
}

/**
 * Refuses a file that is missing, belongs to another program or has another schema, without changing it: a connection
 * from outside creates, marks and migrates no file.
 */
function checkInboxFile(file: string): void {
  if (!existsSync(file)) {
    throw new PigeonholeError("invalid_argument", `There is no file ${file}; give the path of a receiver's database.`);
  }
  const { mark, version } = readMarks(file);
  if (mark !== APPLICATION_ID) {
    throw new PigeonholeError("not_a_pigeonhole_database", `${file} is not the database of a receiver.`);
  }
  if (version > MIGRATIONS.length) {
    throw new PigeonholeError(
      "schema_too_new",
      `${file} has schema version ${version}; this version of pigeonhole knows ${MIGRATIONS.length}. Use the version that its receiver runs.`,
    );
  }
  if (version < MIGRATIONS.length) {
    throw new PigeonholeError(
      "invalid_argument",
      `${file} has the older schema version ${version}. Start its receiver once with this version, which brings it up to date.`,
    );
  }
}

/** Read through SQLite, because the first pages of a new database may be in the WAL alone. */
function readMarks(file: string): { mark: number; version: number } {
  let db: Database.Database | undefined;
  try {
    db = connect(file, { fileMustExist: true });
    db.pragma("query_only = ON");
    return {
      mark: Number(db.pragma("application_id", { simple: true })),
      version: Number(db.pragma("user_version", { simple: true })),
    };
  } catch (error) {
    if (error instanceof Database.SqliteError && error.code === "SQLITE_NOTADB") return { mark: 0, version: 0 };
    throw asStoreError(error, `opening ${file}`);
  } finally {
    db?.close();
  }
}

/** A transaction on a database that a receiver may be using. */
export function runBeside<Value>(
  db: Database.Database,
  kind: "deferred" | "immediate",
  work: () => Value,
): Promise<Value> {
  return tryWhileBusy(() => {
    if (!db.open) throw new PigeonholeError("stopped", "The inbox file is closed.");
    return db.transaction(work)[kind]();
  });
}

/** Tries again while the receiver holds the database. */
export function tryWhileBusy<Value>(work: () => Value): Promise<Value> {
  return whileBusy(BUSY_WAITS.outside, () => {
    try {
      return work();
    } catch (error) {
      throw asStoreError(error, "using the database");
    }
  });
}
