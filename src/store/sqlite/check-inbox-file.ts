import { existsSync } from "node:fs";
import Database from "better-sqlite3";
import { PigeonholeError } from "../../base/error.js";
import { connect } from "./connect.js";
import { MIGRATIONS } from "./migrations.js";
import { APPLICATION_ID } from "./open-database.js";
import { asStoreError } from "./store-error.js";

/**
 * Refuses a file that is missing, belongs to another program or has another schema, without changing it: a connection
 * from outside creates, marks and migrates no file.
 */
export function checkInboxFile(file: string): void {
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
