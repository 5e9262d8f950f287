import { chmodSync, closeSync, fchmodSync, lstatSync, openSync, readlinkSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { PigeonholeError } from "../../base/error.js";

const PRIVATE = 0o600;
const OF_OTHERS = 0o077;
const MAX_LINKS = 40;

/**
 * Makes the file for this user alone where it is missing, before SQLite, which would let others read it until its mode is changed;
 * and takes it back for this user alone where it is there. Whatever the umask. Throws `store_failed` where that cannot be done.
 */
export function makePrivate(given: string): void {
  // Windows has no such modes; there a file has the rights of its folder.
  if (process.platform === "win32") return;
  const path = followLinks(given);
  if (createPrivate(path)) return;
  narrow(path);
  // SQLite gives these the mode of the database when it makes them; a process that died may have left others.
  for (const end of ["-wal", "-shm"]) narrow(`${path}${end}`);
}

/** Where a symbolic link leads, also one to a file that is yet to be made, as SQLite follows it. */
function followLinks(path: string): string {
  for (let at = resolve(path), links = 0; ; links += 1) {
    const isLink = lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    if (!isLink || links === MAX_LINKS) return at;
    at = resolve(dirname(at), readlinkSync(at));
  }
}

/** False when it is there. A file that is new has no locks that closing this handle of it could end. */
function createPrivate(path: string): boolean {
  let handle: number;
  try {
    handle = openSync(path, "wx", PRIVATE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw new PigeonholeError("store_failed", `${path} cannot be made (${codeOf(error)}).`, { cause: error });
  }
  try {
    // An odd umask may have taken away what this user needs.
    fchmodSync(handle, PRIVATE);
  } finally {
    closeSync(handle);
  }
  return true;
}

/** By path: a handle of a file that is in use must not be closed here. */
function narrow(path: string): void {
  const mode = modeOf(path);
  if (mode === undefined || (mode & OF_OTHERS) === 0) return;
  let why = "the file system keeps none";
  try {
    chmodSync(path, mode & ~OF_OTHERS & 0o777);
  } catch (error) {
    why = codeOf(error);
  }
  const now = modeOf(path);
  if (now === undefined || (now & OF_OTHERS) === 0) return;
  throw new PigeonholeError(
    "store_failed",
    `Other users can open ${path} (mode ${(now & 0o777).toString(8)}), and its mode cannot be changed (${why}). They could read events and keep handlers from running. Run as the user who owns the file, or keep it on a file system with modes.`,
  );
}

/** Undefined for what is no file, which SQLite refuses in its own words. */
function modeOf(path: string): number | undefined {
  const seen = statSync(path, { throwIfNoEntry: false });
  return seen?.isFile() === true ? seen.mode : undefined;
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "unknown error";
}
