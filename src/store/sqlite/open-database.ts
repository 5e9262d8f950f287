import Database from "better-sqlite3";
import { PigeonholeError } from "../../base/error.js";
import { connect } from "./connect.js";
import { MIGRATIONS } from "./migrations.js";
import { asStoreError } from "./store-error.js";

/** Marks our files: "PGNH" as a number. */
export const APPLICATION_ID = 0x50474e48;

/** The first SQLite without the WAL-reset corruption that two connections can meet. */
const OLDEST_SQLITE = "3.51.3";

/** Blocks its thread for this long at most. */
const BUSY_TIMEOUT_MS = 250;

/** The WAL is truncated to this once a reader that made it larger is gone: 4,000 pages, at which it is emptied. */
const WAL_LIMIT_BYTES = 4000 * 4096;

export const IN_MEMORY = ":memory:";

/**
 * Opens one connection with the settings that make a commit durable, and reads them back: better-sqlite3 re-opens WAL
 * files at `synchronous=NORMAL`, which loses acknowledged events on power loss.
 */
export function openDatabase(file: string): Database.Database {
  let db: Database.Database | undefined;
  try {
    db = connect(file, { timeout: BUSY_TIMEOUT_MS });
    checkVersion(db);
    checkOwner(db, file);
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = FULL");
    db.pragma("wal_autocheckpoint = 4000");
    db.pragma(`journal_size_limit = ${WAL_LIMIT_BYTES}`);
    // What is deleted or moved inside a page is overwritten there, so that no personal data is left between the rows.
    db.pragma("secure_delete = FAST");
    // The user's own tables may have them. The driver's default is the same, unless it was built otherwise.
    db.pragma("foreign_keys = ON");
    checkDurability(db, file);
    readOnce(db);
    return db;
  } catch (error) {
    db?.close();
    if (isNotADatabase(error)) {
      throw new PigeonholeError(
        "not_a_pigeonhole_database",
        `${file} is not an SQLite database, or its beginning is damaged. Give the store another path, or start from the last copy (pigeonhole inbox backup).`,
        { cause: error },
      );
    }
    throw asStoreError(error, `opening ${file}`);
  }
}

export function isNotADatabase(error: unknown): boolean {
  const cause = error instanceof PigeonholeError ? error.cause : error;
  return cause instanceof Database.SqliteError && cause.code === "SQLITE_NOTADB";
}

/**
 * Opens a connection that only reads, beside one that writes. When the last connection of a process closes, SQLite lets
 * it empty and delete the WAL if no other process seems to use the file; a receiver whose process has lost its locks
 * seems not to use it. While this connection is open, no other one of the process is the last, and it cannot delete
 * anything itself, so a close that ends with it leaves the files unchanged. Shown in
 * test/store/onlookers.process.test.ts.
 */
export function openKeeper(file: string): Database.Database {
  let db: Database.Database | undefined;
  try {
    db = connect(file, { readonly: true, timeout: BUSY_TIMEOUT_MS });
    readOnce(db);
    return db;
  } catch (error) {
    db?.close();
    throw asStoreError(error, `opening ${file}`);
  }
}

/** Brings the schema up to date; safe to call from several processes at once. */
export function migrate(db: Database.Database, file: string): void {
  try {
    db.transaction(() => {
      const version = Number(db.pragma("user_version", { simple: true }));
      if (version > 0 && applicationId(db) !== APPLICATION_ID) {
        throw new PigeonholeError(
          "not_a_pigeonhole_database",
          `${file} carries the user_version ${version} of another program, and pigeonhole keeps its own there; give the store another path.`,
        );
      }
      if (version > MIGRATIONS.length) {
        throw new PigeonholeError(
          "schema_too_new",
          `${file} has schema version ${version}; this version of pigeonhole knows ${MIGRATIONS.length}. Install the newer package again.`,
        );
      }
      for (const sql of MIGRATIONS.slice(version)) db.exec(sql);
      // Written at each start: the first write of a connection also syncs the folder, which the first ctx.commit, on
      // the event loop, must not wait for.
      db.pragma(`user_version = ${MIGRATIONS.length}`);
      db.pragma(`application_id = ${APPLICATION_ID}`);
    }).immediate();
  } catch (error) {
    throw asStoreError(error, `migrating ${file}`);
  }
}

/**
 * SQLite opens the WAL, and locks the file as being in use, with the first read. This one does not parse the schema,
 * which the keeper never needs.
 */
function readOnce(db: Database.Database): void {
  db.pragma("schema_version");
}

function checkVersion(db: Database.Database): void {
  const version = String(db.prepare("SELECT sqlite_version()").pluck().get());
  if (version.localeCompare(OLDEST_SQLITE, "en", { numeric: true }) >= 0) return;
  throw new PigeonholeError(
    "sqlite_too_old",
    `SQLite ${version} can corrupt WAL files; ${OLDEST_SQLITE} or newer is needed. Update better-sqlite3 to 12.11.1 or newer.`,
  );
}

/** The user's own tables may share the file, so only a file marked by another program is refused. */
function checkOwner(db: Database.Database, file: string): void {
  const mark = applicationId(db);
  if (mark !== 0 && mark !== APPLICATION_ID) {
    throw new PigeonholeError(
      "not_a_pigeonhole_database",
      `${file} carries the application id ${mark} of another program; give the store another path.`,
    );
  }
}

function applicationId(db: Database.Database): number {
  return Number(db.pragma("application_id", { simple: true }));
}

function checkDurability(db: Database.Database, file: string): void {
  const journal = String(db.pragma("journal_mode", { simple: true }));
  const synchronous = Number(db.pragma("synchronous", { simple: true }));
  const wantedJournal = file === IN_MEMORY ? "memory" : "wal";
  if (journal === wantedJournal && synchronous === 2) return;
  throw new PigeonholeError(
    "store_not_durable",
    `${file}: SQLite reports journal_mode=${journal}, synchronous=${synchronous}; ${wantedJournal} and 2 (FULL) are needed. Is the file on a network file system?`,
  );
}
