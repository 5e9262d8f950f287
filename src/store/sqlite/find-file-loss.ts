import type { Database } from "better-sqlite3";
import type { PigeonholeError } from "../../base/error.js";
import { type FileLoss, type OpenFiles, describeFileLoss } from "./open-files.js";

// Prevents: commits are acknowledged into a file that was deleted, moved or replaced, and those in its WAL are lost
// with the last handle. Shown in test/process/file-taken.test.ts.

/**
 * Runs after each commit on `db`, before its answers. Returns the failure when the files are no longer at their paths.
 */
export function findFileLoss(db: Database, files: OpenFiles): PigeonholeError | undefined {
  const loss = files.findLoss();
  if (loss === undefined) return undefined;
  rescueCommits(db, files, loss);
  return describeFileLoss(files.data.file, loss);
}

/**
 * Copies commits from the WAL into the database before the connections to removed files are closed: a deleted WAL, as
 * long as it is open here, may hold the only copy of acknowledged events.
 */
function rescueCommits(db: Database, files: OpenFiles, loss: FileLoss): void {
  // A checkpoint would mix the WAL with a foreign database, or write a WAL that is no longer whole into the database.
  // Nor does a second SQLite see that this one reads the WAL, which it may begin again meanwhile.
  if (loss === "overwritten" || loss === "wal_overwritten" || loss === "second") return;
  // Another WAL in its place means that another program writes to the database by now; the two must not be mixed.
  if (loss !== "database" && !files.isWalPathFree) return;
  // A database that was moved has no WAL under its new name, and SQLite would apply the one left behind to any file
  // that takes its place. An emptied one gets back all that is in the WAL, which SQLite would delete beside it.
  const mode = loss === "database" ? "TRUNCATE" : "PASSIVE";
  try {
    db.pragma(`wal_checkpoint(${mode})`);
  } catch {
    // The loss itself is reported; a volume that is gone cannot be written to.
  }
}
