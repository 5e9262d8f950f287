import { realpathSync, statSync } from "node:fs";
import { PigeonholeError } from "../../base/error.js";
import { type HeldLocks, areHeld, findHeldLocks } from "./held-locks.js";

/** The file that a path leads to. */
export interface FileIdentity {
  dev: bigint;
  ino: bigint;
}

/** What was removed or replaced while a database was open. `locks`: the process has lost its locks on the file. */
export type FileFault = "database" | "wal" | "owner" | "locks";

/**
 * Reads the path alone: SQLite's locks on a file end when this process closes any handle of that file, so this opens
 * none.
 */
export function identify(path: string): FileIdentity | undefined {
  try {
    const seen = statSync(path, { bigint: true, throwIfNoEntry: false });
    return seen === undefined ? undefined : { dev: seen.dev, ino: seen.ino };
  } catch {
    // A folder without access or a volume that is gone: both count as a missing file.
    return undefined;
  }
}

export function isSameFile(one: FileIdentity | undefined, other: FileIdentity | undefined): boolean {
  return one?.dev === other?.dev && one?.ino === other?.ino;
}

/**
 * The files of one opening, as data: the first connection finds them, and the connection of the writer thread must find
 * the same.
 */
export interface OpenFilesData {
  file: string;
  /** Beside the real file: SQLite follows a symbolic link first. */
  walPath: string;
  sharedMemoryPath: string;
  database: FileIdentity;
  wal: FileIdentity;
  sharedMemory: FileIdentity;
  /** Undefined where the locks of a process cannot be seen. */
  locks: HeldLocks | undefined;
}

/**
 * Checks whether the files at the paths are the open ones. A commit into a file that was deleted, moved or replaced is
 * lost, so this runs after each commit, before any answer. It costs four `stat`s and two reads of `/proc`.
 */
export class OpenFiles {
  readonly data: OpenFilesData;
  #owner: FileIdentity | undefined;

  constructor(data: OpenFilesData) {
    this.data = data;
  }

  fault(): FileFault | undefined {
    const { file, walPath, sharedMemoryPath, database, wal, sharedMemory, locks } = this.data;
    if (!isSameFile(identify(file), database)) return "database";
    if (!isSameFile(identify(walPath), wal) || !isSameFile(identify(sharedMemoryPath), sharedMemory)) return "wal";
    // The file exists since a process first became the owner, and no process removes it.
    const owner = identify(ownerPath(file));
    if (this.#owner !== undefined && !isSameFile(owner, this.#owner)) return "owner";
    this.#owner = owner;
    return locks === undefined || areHeld(locks) ? undefined : "locks";
  }

  /** True while no other file is in the place of the WAL, so no other program has started a new one. */
  get isWalPathFree(): boolean {
    const seen = identify(this.data.walPath);
    return seen === undefined || isSameFile(seen, this.data.wal);
  }
}

/**
 * Records the files of a connection that was just opened and has read once. `before` is the file that was at the path
 * before.
 */
export function noteOpenFiles(file: string, before: FileIdentity | undefined): OpenFiles {
  const realPath = realpathSync(file);
  const [walPath, sharedMemoryPath] = [`${realPath}-wal`, `${realPath}-shm`];
  const [database, wal, sharedMemory] = [identify(file), identify(walPath), identify(sharedMemoryPath)];
  if (database === undefined || wal === undefined || sharedMemory === undefined || !isSameFile(before, database)) {
    checkIdentityIsStable(file);
    throw new PigeonholeError("store_busy", `${file} was moved or replaced while it was opened.`);
  }
  const locks = findHeldLocks(database, sharedMemory);
  return new OpenFiles({ file, walPath, sharedMemoryPath, database, wal, sharedMemory, locks });
}

/**
 * Refuses a file system that reports another identity of one file at each check: there, a removed file could not be
 * noticed.
 */
export function checkIdentityIsStable(file: string, seenAs: typeof identify = identify): void {
  const first = seenAs(file);
  for (let again = 0; again < 3; again += 1) {
    if (isSameFile(seenAs(file), first)) continue;
    throw new PigeonholeError(
      "store_not_durable",
      `${file}: the file system reports another device or inode number for it at each check, so the store could not notice that the file was removed. Keep it on a local file system.`,
    );
  }
}

export const ownerPath = (file: string): string => `${file}-owner`;

export function describeFault(file: string, fault: FileFault): PigeonholeError {
  return new PigeonholeError("store_replaced", explainFault(file, fault));
}

function explainFault(file: string, fault: FileFault): string {
  const next = "The store opens its files again; restart the process if it continues to refuse deliveries.";
  const sharing = "Take copies with receiver.inbox.backup(), and use the file through ctx.commit.";
  switch (fault) {
    case "database":
      return `${file} was moved, deleted or replaced while it was open. The store accepts nothing more. Put the file back, or restart the process to begin with the file that is there now.`;
    case "wal":
      return `The WAL of ${file} was deleted or replaced while it was open, by hand or by another SQLite. ${next} ${sharing}`;
    case "owner":
      return `${ownerPath(file)} was deleted or replaced while it was in use. ${next} Do not change or remove that file.`;
    case "locks":
      return `This process lost its locks on ${file}: something in it opened and closed the file, such as a second copy of SQLite or a copy of the folder. ${next} ${sharing}`;
  }
}
