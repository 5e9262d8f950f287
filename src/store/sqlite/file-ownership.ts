import { existsSync } from "node:fs";
import type Database from "better-sqlite3";
import { connect } from "./connect.js";
import { ownerPath } from "./file-identity.js";
import { makePrivate } from "./make-private.js";
import { asStoreError } from "./store-error.js";

/** True while a process works on the database file. Does not take the lock, and makes no file. */
export function isOwned(databaseFile: string): boolean {
  const file = ownerPath(databaseFile);
  if (!existsSync(file)) return false;
  const lock = connect(file, { readonly: true, timeout: 0 });
  try {
    lock.prepare("SELECT 1 FROM sqlite_schema").get();
    return false;
  } catch (error) {
    const failure = asStoreError(error, `reading ${file}`);
    if (failure.code === "store_busy") return true;
    throw failure;
  } finally {
    lock.close();
  }
}

/**
 * Decides which process works on the file: an operating-system lock on a small file beside it. The lock ends with its
 * process, however that dies, so the next one takes over at once instead of waiting until leases expire. Without it,
 * handlers run in two processes at once; shown in test/store/sqlite-processes.process.test.ts.
 */
export class FileOwnership {
  readonly #database: string;
  #lock: Database.Database | undefined;
  #isLost = false;

  constructor(databaseFile: string) {
    this.#database = databaseFile;
  }

  get isOwner(): boolean {
    return this.#lock !== undefined;
  }

  /** True after {@link lose}, until the lock is taken or released. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Takes the lock unless another live process has it; true when it is held. */
  take(): boolean {
    if (this.#lock !== undefined) return true;
    const file = ownerPath(this.#database);
    // A user who can open the file can lock it, and so keep handlers from running.
    makePrivate(file, this.#database);
    let lock: Database.Database | undefined;
    try {
      lock = connect(file, { timeout: 0 });
      lock.pragma("journal_mode = MEMORY");
      lock.exec("BEGIN EXCLUSIVE");
      this.#lock = lock;
      this.#isLost = false;
      return true;
    } catch (error) {
      lock?.close();
      const failure = asStoreError(error, `locking ${file}`);
      if (failure.code === "store_busy") return false;
      throw failure;
    }
  }

  /** The lock may be on a removed file; another process may be the owner by now. */
  lose(): void {
    const wasOwner = this.isOwner || this.#isLost;
    this.release();
    this.#isLost = wasOwner;
  }

  release(): void {
    this.#lock?.close();
    this.#lock = undefined;
    this.#isLost = false;
  }
}
