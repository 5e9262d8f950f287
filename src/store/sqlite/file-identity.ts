import { statSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";

// Prevents: a look at the files ends SQLite's locks on them, or takes another file for the open one. Shown in
// test/store/sqlite-files-taken.process.test.ts. A file system that numbers a file differently at each look is refused:
// its files count as replaced.

/** The file that a path leads to. */
export interface FileIdentity {
  dev: bigint;
  ino: bigint;
}

/** A file at the moment of a check. */
interface SeenFile extends FileIdentity {
  size: bigint;
}

/**
 * Reads the path alone: SQLite's locks on a file end when this process closes any handle of that file, so this opens
 * none.
 */
export function identify(path: string): SeenFile | undefined {
  try {
    const seen = statSync(path, { bigint: true, throwIfNoEntry: false });
    return seen === undefined ? undefined : { dev: seen.dev, ino: seen.ino, size: seen.size };
  } catch {
    // A folder without access or a volume that is gone: both count as a missing file.
    return undefined;
  }
}

export function isSameFile(one: FileIdentity | undefined, other: FileIdentity | undefined): boolean {
  return one?.dev === other?.dev && one?.ino === other?.ino;
}

/** With more links it is a circle, which SQLite refuses. */
const MAX_LINKS = 40;

/** What symbolic links lead to, also when nothing is there: SQLite puts the WAL beside it. */
export function followLinks(path: string): string {
  let end = path;
  try {
    for (let links = 0; links < MAX_LINKS; links += 1) end = resolve(realpathSync(dirname(end)), readlinkSync(end));
  } catch {
    // This one is no link.
  }
  return end;
}

/** The file that the owner of a database locks: one for each database, through whatever links it is opened. */
export const ownerPath = (file: string): string => `${followLinks(file)}-owner`;
