import type Database from "better-sqlite3";
import { connect } from "./connect.js";
import { makePrivate } from "./make-private.js";
import { ownerPath } from "./open-files.js";
import { asStoreError } from "./store-error.js";

/**
 * Who works on the file. A lock of the operating system on a small file beside it, so that it ends with its process, however
 * that dies: the next one takes over at once instead of waiting for leases to run out.
 */
export class Ownership {
  readonly #file: string;
  #lock: Database.Database | undefined;
  #isLost = false;

  constructor(databaseFile: string) {
    this.#file = ownerPath(databaseFile);
  }

  get isHeld(): boolean {
    return this.#lock !== undefined;
  }

  /** True since {@link lose}, until it is taken or given. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Takes the lock unless another live process has it; true when it is held. */
  take(): boolean {
    if (this.#lock !== undefined) return true;
    // Whoever can open it can lock it, and so keep handlers from running.
    makePrivate(this.#file);
    let lock: Database.Database | undefined;
    try {
      lock = connect(this.#file, { timeout: 0 });
      lock.pragma("journal_mode = MEMORY");
      lock.exec("BEGIN EXCLUSIVE");
      this.#lock = lock;
      this.#isLost = false;
      return true;
    } catch (error) {
      lock?.close();
      const failure = asStoreError(error, `locking ${this.#file}`);
      if (failure.code === "store_busy") return false;
      throw failure;
    }
  }

  /** The lock may lie on a file that is gone; another process may be the owner by now. */
  lose(): void {
    const wasOwner = this.isHeld || this.#isLost;
    this.give();
    this.#isLost = wasOwner;
  }

  give(): void {
    this.#lock?.close();
    this.#lock = undefined;
    this.#isLost = false;
  }
}
