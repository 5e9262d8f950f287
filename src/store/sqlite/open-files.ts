import { realpathSync } from "node:fs";
import { PigeonholeError } from "../../base/error.js";
import { ContentWatch } from "./content-watch.js";
import { type FileIdentity, identify, isSameFile, followLinks, ownerPath } from "./file-identity.js";
import { type OwnLocks, findOwnLocks, hasSecondSqlite, isStillLocked } from "./own-locks.js";
import { DAMAGED } from "./store-error.js";

/** The file is the same one, with another content. */
type ContentLoss = "emptied" | "overwritten" | "wal_overwritten";

/**
 * What was removed or replaced while a database was open. `locks`: the process has lost its locks on the file.
 * `second`: another SQLite of the process has it open.
 */
export type FileLoss = "database" | "wal" | "owner" | "locks" | "second" | ContentLoss;

/** SQLite takes a file of one byte for an empty one, whose WAL it deletes. */
const EMPTY_BYTES = 1n;

/** A process may have thousands of handles. Another SQLite that opens the file mostly takes the locks over as well. */
const HANDLES_EVERY_MS = 200;

/**
 * The files of one opening, as data: the first connection finds them, and the connection of the writer thread must find
 * the same.
 */
export interface OpenFilesData {
  file: string;
  /** Beside the real file: SQLite follows a symbolic link first. */
  walPath: string;
  sharedMemoryPath: string;
  ownerPath: string;
  database: FileIdentity;
  wal: FileIdentity;
  sharedMemory: FileIdentity;
  /** Undefined where the locks of a process cannot be seen. */
  locks: OwnLocks | undefined;
}

/**
 * Checks whether the files at the paths are the open ones, with the content that SQLite gave them. A commit into a file
 * that was deleted, moved, replaced or overwritten is lost, so this runs after each commit, before any answer. It costs
 * four `stat`s and, where the locks can be seen, two reads of `/proc` and the beginnings of the files.
 */
export class OpenFiles {
  readonly data: OpenFilesData;
  readonly #content: ContentWatch | undefined;
  #owner: FileIdentity | undefined;
  #handlesReadAt = -Infinity;

  constructor(data: OpenFilesData) {
    this.data = data;
    this.#content = data.locks === undefined ? undefined : new ContentWatch(data.locks, data.walPath);
  }

  /** True while the database is not at its path; one `stat`, for those who have not committed. */
  get isAway(): boolean {
    return !isSameFile(identify(this.data.file), this.data.database);
  }

  findLoss(): FileLoss | undefined {
    const { file, walPath, sharedMemoryPath, database, wal, sharedMemory } = this.data;
    const seen = identify(file);
    if (!isSameFile(seen, database)) return "database";
    if (!isSameFile(identify(walPath), wal) || !isSameFile(identify(sharedMemoryPath), sharedMemory)) return "wal";
    // SQLite writes the first page before there is a WAL.
    if (seen !== undefined && seen.size <= EMPTY_BYTES) return "emptied";
    const changed = this.#content?.changed();
    if (changed !== undefined) return CHANGED[changed];
    // The file exists since a process first became the owner, and no process removes it.
    const owner = identify(this.data.ownerPath);
    if (this.#owner !== undefined && !isSameFile(owner, this.#owner)) return "owner";
    this.#owner = owner;
    return this.#findLockLoss();
  }

  #findLockLoss(): FileLoss | undefined {
    const { locks, sharedMemory } = this.data;
    if (locks === undefined) return undefined;
    const isLocked = isStillLocked(locks);
    if (isLocked && performance.now() - this.#handlesReadAt < HANDLES_EVERY_MS) return undefined;
    if (hasSecondSqlite(locks, sharedMemory)) return "second";
    this.#handlesReadAt = performance.now();
    return isLocked ? undefined : "locks";
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
    throw new PigeonholeError("store_busy", `${file} was moved or replaced while it was opened.`);
  }
  const locks = findOwnLocks(database, sharedMemory);
  if (locks !== undefined && hasSecondSqlite(locks, sharedMemory)) throw describeFileLoss(file, "second");
  const paths = { file, walPath, sharedMemoryPath, ownerPath: ownerPath(file) };
  return new OpenFiles({ ...paths, database, wal, sharedMemory, locks });
}

const CHANGED = { database: "overwritten", wal: "wal_overwritten" } as const;

/**
 * Refuses an empty or a missing database beside a WAL with content: SQLite would delete the WAL, which may be all that
 * is left of acknowledged events. A new database has no WAL. Shown in test/process/file-taken.test.ts. Throws
 * `store_corrupt`.
 */
export function checkNotEmptied(file: string): void {
  if (sizeOf(file) > EMPTY_BYTES) return;
  const walPath = `${followLinks(file)}-wal`;
  // The second look is for another process that creates the database now: it has written to it before there is a WAL.
  if (sizeOf(walPath) === 0n || sizeOf(file) > EMPTY_BYTES) return;
  const [state, cause] = identify(file) === undefined ? ["missing", "removed"] : ["empty", "emptied"];
  throw new PigeonholeError(
    "store_corrupt",
    `${file} is ${state}, but its WAL is not: the database was ${cause} while it was in use or after a crash. SQLite would delete ${walPath}, which may hold events. Put the database back if you have it. Otherwise move the WAL and the -shm file to a safe place; then start from the last copy (pigeonhole inbox backup), or with a new file.`,
  );
}

/** 0 where nothing is. */
const sizeOf = (path: string): bigint => identify(path)?.size ?? 0n;

export function describeFileLoss(file: string, loss: FileLoss): PigeonholeError {
  const isDamage = loss === "emptied" || loss === "overwritten" || loss === "wal_overwritten";
  return new PigeonholeError(isDamage ? "store_corrupt" : "store_replaced", explainFileLoss(file, loss));
}

function explainFileLoss(file: string, loss: FileLoss): string {
  const next = "The store opens its files again; restart the process if it continues to refuse deliveries.";
  const sharing = "Take copies with receiver.inbox.backup(), and use the file through ctx.commit.";
  switch (loss) {
    case "emptied":
      return `${file} was truncated to nothing while it was open. ${DAMAGED}`;
    case "overwritten":
      return `Another program than SQLite has overwritten or truncated ${file} while it was open. ${DAMAGED}`;
    case "wal_overwritten":
      return `Another program than SQLite has overwritten or truncated the WAL of ${file} while it was open. ${DAMAGED}`;
    case "database":
      return `${file} was moved, deleted or replaced while it was open, or this process may not enter its folder any more. The store accepts nothing more. Put the file and its permissions back, or restart the process to begin with the file that is there now.`;
    case "wal":
      return `The WAL of ${file} was deleted or replaced while it was open, by hand or by another SQLite. ${next} ${sharing}`;
    case "owner":
      return `${ownerPath(file)} was deleted or replaced while it was in use. ${next} Do not change or remove that file.`;
    case "second":
      return `A second SQLite in this process has ${file} open, such as node:sqlite, libsql, Prisma or another copy of better-sqlite3. Neither sees the other's locks, so each overwrites what the other commits. The store accepts nothing while that one is open: close it. ${sharing}`;
    case "locks":
      return `This process lost its locks on ${file}: something in it opened and closed the file, such as a second copy of SQLite or a copy of the folder. ${next} ${sharing}`;
  }
}
