import Database from "better-sqlite3";
import { errorMessage } from "../../base/error-text.js";
import { type ErrorCode, PigeonholeError, isPigeonholeError } from "../../base/error.js";

/** What to do about a damaged file. */
export const DAMAGED =
  "The database is damaged. Stop the receiver, keep the file and its -wal as they are, and start from the last copy (pigeonhole inbox backup) or from what sqlite3's .recover saves.";

/** What the codes of SQLite mean for the store; else the statement itself failed. */
const MEANINGS: readonly (readonly [RegExp, ErrorCode, string])[] = [
  [/^SQLITE_(BUSY|LOCKED)/, "store_busy", ". Another connection has locked the database."],
  [/^SQLITE_FULL/, "store_full", ". Free space on the disk."],
  [/^SQLITE_CORRUPT/, "store_corrupt", `. ${DAMAGED}`],
];

/** Converts SQLite's error. The message keeps SQLite's code and never contains a bound value. */
export function asStoreError(error: unknown, doing: string): PigeonholeError {
  // The API is never called in here, so its codes cannot occur.
  if (error instanceof PigeonholeError) return error;
  if (!(error instanceof Database.SqliteError)) {
    return new PigeonholeError("store_failed", `${doing} failed: ${errorMessage(error)}`, { cause: error });
  }
  const [, code, advice] = MEANINGS.find(([of]) => of.test(error.code)) ?? [undefined, "store_failed", ""];
  return new PigeonholeError(code, `${doing} failed: ${error.code} (${error.message})${advice}`, { cause: error });
}

/** True when the state of SQLite is uncertain after this error, so that nothing more may be written. */
export function isBreaking(error: unknown): boolean {
  if (isPigeonholeError(error, "store_replaced") || isPigeonholeError(error, "store_corrupt")) return true;
  const cause = error instanceof PigeonholeError ? error.cause : error;
  if (!(cause instanceof Database.SqliteError)) return false;
  return /^SQLITE_(IOERR|CORRUPT|NOTADB|READONLY)/.test(cause.code);
}

/** True for a failure that the next try may not have, and that no single command causes. */
export function isOfDatabase({ code }: { code: ErrorCode }): boolean {
  return code === "store_busy" || code === "store_full";
}
