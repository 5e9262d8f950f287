import { readFileSync, readdirSync, statSync } from "node:fs";
import type { FileIdentity } from "./file-identity.js";

// Prevents: an acknowledged commit is lost with a WAL that another process takes for unused. Shown in
// test/process/file-taken.test.ts. A POSIX lock belongs to the process and the file, and ends as soon
// as the process closes any handle of that file. SQLite knows its own handles; a second SQLite in the process, or a
// plain copy of the file, does not. Another process may then treat the WAL as unused: it truncates the shared memory
// under this one (SIGBUS), or deletes the WAL. Linux shows a process its locks.

/** The handles through which this process holds SQLite's "in use" locks. */
export interface OwnLocks {
  /** Of the database file, which keep others from deleting the WAL. */
  database: number[];
  /** Of the shared memory, which keep others from creating it again. */
  sharedMemory: number[];
}

/** The byte ranges that SQLite locks for as long as a database is in use, as the kernel prints them. */
const IN_USE = { database: / READ .* 1073741826 1073742335$/m, sharedMemory: / READ .* 128 128$/m };

/** Undefined where the locks cannot be read: on systems other than Linux, and under kernels that do not show them. */
export function findOwnLocks(database: FileIdentity, sharedMemory: FileIdentity): OwnLocks | undefined {
  if (process.platform !== "linux") return undefined;
  // A lock stays with the handle that took it until no connection of the process uses the file.
  const locks = {
    database: handlesOf(database).filter((handle) => hasLock(handle, IN_USE.database) === true),
    sharedMemory: handlesOf(sharedMemory).filter((handle) => hasLock(handle, IN_USE.sharedMemory) === true),
  };
  return isStillLocked(locks) ? locks : undefined;
}

/** True as long as nothing shows the opposite: without a free handle no lock can be read. */
export function isStillLocked({ database, sharedMemory }: OwnLocks): boolean {
  return (
    database.some((handle) => hasLock(handle, IN_USE.database) !== false) &&
    sharedMemory.some((handle) => hasLock(handle, IN_USE.sharedMemory) !== false)
  );
}

/**
 * True while a second SQLite of this process has the file open: neither sees the locks of the other. All connections of
 * one SQLite share a handle of the shared memory.
 */
export function hasSecondSqlite({ sharedMemory: own }: OwnLocks, sharedMemory: FileIdentity): boolean {
  return handlesOf(sharedMemory).some((handle) => !own.includes(handle));
}

/** Handles of this process that are open on the file; following the link opens nothing. */
function handlesOf({ dev, ino }: FileIdentity): number[] {
  try {
    return readdirSync("/proc/self/fd")
      .map(Number)
      .filter((handle) => {
        const seen = statSync(`/proc/self/fd/${handle}`, { bigint: true, throwIfNoEntry: false });
        return seen?.dev === dev && seen.ino === ino;
      });
  } catch {
    return [];
  }
}

/** Undefined where the locks cannot be read now. A closed handle has none. */
function hasLock(handle: number, lock: RegExp): boolean | undefined {
  try {
    return lock.test(readFileSync(`/proc/self/fdinfo/${handle}`, "utf8"));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? false : undefined;
  }
}
