import Database from "better-sqlite3";
import { PigeonholeError } from "../../base/error.js";
import { checkDriver } from "./check-driver.js";

/**
 * Opens a connection; the only place that does, since it loads the native module. Throws `driver_unusable`, or SQLite's
 * error.
 */
export function connect(file: string, options: Database.Options): Database.Database {
  checkDriver();
  try {
    return new Database(file, options);
  } catch (error) {
    throw isLoadError(error) ? notLoaded(error) : error;
  }
}

/**
 * True when the binary is missing, as after an install without scripts, or was built for another Node, system or
 * processor.
 */
function isLoadError(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? error.code : undefined;
  return (
    code === "ERR_DLOPEN_FAILED" || code === "MODULE_NOT_FOUND" || error.message.startsWith("Could not locate the bind")
  );
}

function notLoaded(error: Error): PigeonholeError {
  // A missing file's message lists forty places after "Tried:".
  const [what = ""] = error.message.replace(/\s+/g, " ").split(" Tried:");
  return new PigeonholeError(
    "driver_unusable",
    `The native module of better-sqlite3 cannot be loaded by Node ${process.versions.node} on ${process.platform}-${process.arch}: ${what} Install the packages again on this machine, or run npm rebuild better-sqlite3.`,
    { cause: error },
  );
}
