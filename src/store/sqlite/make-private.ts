import { chmodSync, closeSync, existsSync, fchmodSync, openSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { PigeonholeError } from "../../base/error.js";
import { followLinks, ownerPath } from "./file-identity.js";

const PRIVATE = 0o600;
const OF_OTHERS = 0o077;

/**
 * Makes the database and what lies beside it private, each as {@link makePrivate} does. Returns the files that other
 * users could open until now.
 */
export function makeDatabasePrivate(given: string): string[] {
  const path = followLinks(resolve(given));
  const wasOpen = makePrivate(given, given);
  // SQLite creates these with the mode of the database; a process that died may have left others.
  const besides = [`${path}-wal`, `${path}-shm`, ownerPath(given)].filter((beside) => existsSync(beside));
  return [...(wasOpen ? [given] : []), ...besides.filter((beside) => makePrivate(beside, given))];
}

/**
 * Creates a missing file for this user alone, because SQLite would let others read it until its mode is changed;
 * removes the rights of others from an existing file, and returns true if they had some. The umask does not matter.
 * Throws `store_failed` where that is not possible, and for a file that belongs to another user: it could be read, or
 * locked. Root may use what belongs to the owner of `database`.
 */
export function makePrivate(given: string, database: string): boolean {
  // Windows has no such modes; there a file has the rights of its folder.
  if (process.platform === "win32") return false;
  const path = followLinks(resolve(given));
  if (createPrivate(path)) return false;
  const wasOpen = narrow(path);
  checkUser(path, database);
  return wasOpen;
}

/** False when the file exists. A new file has no locks that closing this handle could release. */
function createPrivate(path: string): boolean {
  let handle: number;
  try {
    handle = openSync(path, "wx", PRIVATE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw new PigeonholeError("store_failed", `${path} cannot be created (${codeOf(error)}).`, { cause: error });
  }
  try {
    // An unusual umask may have removed rights that this user needs.
    fchmodSync(handle, PRIVATE);
  } finally {
    closeSync(handle);
  }
  return true;
}

/** By path: a handle of a file that is in use must not be closed here. */
function narrow(path: string): boolean {
  const mode = modeOf(path);
  if (mode === undefined || (mode & OF_OTHERS) === 0) return false;
  let why = "the file system has no modes";
  try {
    chmodSync(path, mode & ~OF_OTHERS & 0o777);
  } catch (error) {
    why = codeOf(error);
  }
  const now = modeOf(path);
  if (now === undefined || (now & OF_OTHERS) === 0) return true;
  throw new PigeonholeError(
    "store_failed",
    `Other users can open ${path} (mode ${(now & 0o777).toString(8)}), and its mode cannot be changed (${why}). They could read events and keep handlers from running. Run as the user who owns the file, or keep it on a file system with modes.`,
  );
}

function checkUser(path: string, database: string): void {
  const seen = statSync(path, { throwIfNoEntry: false });
  const user = process.geteuid?.();
  if (seen?.isFile() !== true || user === undefined || seen.uid === user) return;
  const isTrusted =
    user === 0 ? seen.uid === statSync(database, { throwIfNoEntry: false })?.uid : canChangeMode(path, seen.mode);
  if (isTrusted) return;
  throw new PigeonholeError(
    "store_failed",
    `${path} belongs to another user (uid ${seen.uid}; this process has ${user}), who could read events or keep handlers from running. Run as the user who owns the files, or give them all to this user (chown) while no receiver runs. Keep them in a folder that only this user can write to.`,
  );
}

/** Some file systems report one owner for all files; only the real owner of a file can change its mode. */
function canChangeMode(path: string, mode: number): boolean {
  try {
    chmodSync(path, mode & 0o777);
    return true;
  } catch {
    return false;
  }
}

/** Undefined when it is not a file; SQLite refuses that with its own error. */
function modeOf(path: string): number | undefined {
  const seen = statSync(path, { throwIfNoEntry: false });
  return seen?.isFile() === true ? seen.mode : undefined;
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "unknown error";
}
