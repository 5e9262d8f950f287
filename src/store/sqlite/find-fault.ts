import type { Database } from "better-sqlite3";
import type { PigeonholeError } from "../../base/error.js";
import { type FileFault, type OpenFiles, describeFault } from "./open-files.js";

/**
 * Runs after each commit on `db`, before its answers. Returns the failure when the files are no longer at their paths.
 */
export function findFault(db: Database, files: OpenFiles): PigeonholeError | undefined {
  const fault = files.fault();
  if (fault === undefined) return undefined;
  rescueCommits(db, files, fault);
  return describeFault(files.data.file, fault);
}

/**
 * Copies commits from the WAL into the database before the connections to removed files are closed: a deleted WAL, as
 * long as it is open here, may hold the only copy of acknowledged events.
 */
function rescueCommits(db: Database, files: OpenFiles, fault: FileFault): void {
  // A checkpoint would mix the WAL with a foreign database, or write a WAL that is no longer whole into the database.
  if (fault === "overwritten" || fault === "wal_overwritten") return;
  // Another WAL in its place means that another program writes to the database by now; the two must not be mixed.
  if (fault !== "database" && !files.isWalPathFree) return;
  // A database that was moved has no WAL under its new name, and SQLite would apply the one left behind to any file
  // that takes its place. An emptied one gets back all that is in the WAL, which SQLite would delete beside it.
  const mode = fault === "database" ? "TRUNCATE" : "PASSIVE";
  try {
    db.pragma(`wal_checkpoint(${mode})`);
  } catch {
    // The fault itself is reported; a volume that is gone cannot be written to.
  }
}
