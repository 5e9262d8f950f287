import { realpathSync, statSync } from "node:fs";
import { PigeonholeError } from "../../base/error.js";
import { type HeldLocks, areHeld, findHeldLocks } from "./held-locks.js";

/** Which file a path leads to. */
export interface FileIdentity {
  dev: bigint;
  ino: bigint;
}

/** What became of the files of a database while it was open. */
export type FileFault = "database" | "wal" | "owner" | "locks";

/** By path alone: SQLite's locks on a file end when this process closes any handle of that file, so none is ever opened. */
export function identify(path: string): FileIdentity | undefined {
  try {
    const seen = statSync(path, { bigint: true, throwIfNoEntry: false });
    return seen === undefined ? undefined : { dev: seen.dev, ino: seen.ino };
  } catch {
    // A folder that may not be entered, or a volume that is gone: not to be found is what matters.
    return undefined;
  }
}

export function isSameFile(one: FileIdentity | undefined, other: FileIdentity | undefined): boolean {
  return one?.dev === other?.dev && one?.ino === other?.ino;
}

/** Of one opening, as data: what its first connection found goes to the thread, whose own connection must find the same. */
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
 * Tells whether the files under the paths are those that are open. A commit into a file that was deleted, moved or replaced is
 * as good as lost, so it is asked after each commit, before any answer. Four `stat`s and two reads of `/proc`.
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
    // There from the time when a process first became the owner, and never removed by one.
    const owner = identify(ownerPath(file));
    if (this.#owner !== undefined && !isSameFile(owner, this.#owner)) return "owner";
    this.#owner = owner;
    return locks === undefined || areHeld(locks) ? undefined : "locks";
  }

  /** True while nothing else lies where the WAL was, so that nobody has begun another one. */
  get isWalPathFree(): boolean {
    const seen = identify(this.data.walPath);
    return seen === undefined || isSameFile(seen, this.data.wal);
  }
}

/** Notes the files of a connection that was just opened and has read once. `before` is what the path led to before the opening. */
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

/** Refuses a file system that numbers one file differently from look to look; there nobody could tell whether it is still there. */
export function checkIdentityIsStable(file: string, seenAs: typeof identify = identify): void {
  const first = seenAs(file);
  for (let again = 0; again < 3; again += 1) {
    if (isSameFile(seenAs(file), first)) continue;
    throw new PigeonholeError(
      "store_not_durable",
      `${file}: the file system gives it another device or inode number at each look, so that a file which was taken away could not be noticed. Keep it on a local file system.`,
    );
  }
}

export const ownerPath = (file: string): string => `${file}-owner`;

export function describeFault(file: string, fault: FileFault): PigeonholeError {
  return new PigeonholeError("store_replaced", explainFault(file, fault));
}

function explainFault(file: string, fault: FileFault): string {
  const next = "The store opens its files again; restart the process if it goes on refusing deliveries.";
  const sharing = "Take copies with receiver.inbox.backup(), and use the file through ctx.commit.";
  switch (fault) {
    case "database":
      return `${file} was moved, deleted or replaced while it was open. The store takes nothing more. Put the file back, or restart the process to begin with what is there now.`;
    case "wal":
      return `The WAL of ${file} was deleted or replaced while it was open, by hand or by another SQLite. ${next} ${sharing}`;
    case "owner":
      return `${ownerPath(file)} was deleted or replaced while it was in use. ${next} Leave that file alone.`;
    case "locks":
      return `This process lost its locks on ${file}: something in it opened and closed the file, such as a second copy of SQLite or a copy of the folder. ${next} ${sharing}`;
  }
}
