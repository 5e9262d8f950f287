import type { Database } from "better-sqlite3";
import type { PigeonholeError } from "../../base/error.js";
import { type FileFault, type OpenFiles, describeFault } from "./open-files.js";

/** Asked after each commit on `db`, before its answers: the failure when the files are no longer under their paths. */
export function findFault(db: Database, files: OpenFiles): PigeonholeError | undefined {
  const fault = files.fault();
  if (fault === undefined) return undefined;
  rescueCommits(db, files, fault);
  return describeFault(files.data.file, fault);
}

/**
 * Moves what was committed from the WAL into the database, before connections whose files were taken away are given up: a WAL that
 * was deleted holds acknowledged events that nothing else holds, as long as it is open here.
 */
function rescueCommits(db: Database, files: OpenFiles, fault: FileFault): void {
  // Another WAL in its place means that another program writes to the database by now; the two must not meet.
  if (fault !== "database" && !files.isWalPathFree) return;
  // A database that was moved has no WAL under its new name, and SQLite would play the one left behind into whatever takes its place.
  const mode = fault === "database" ? "TRUNCATE" : "PASSIVE";
  try {
    db.pragma(`wal_checkpoint(${mode})`);
  } catch {
    // The fault itself is what is told; a volume that is gone can be written to no more.
  }
}
