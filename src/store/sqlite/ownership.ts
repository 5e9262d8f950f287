import Database from "better-sqlite3";

/**
 * Who works on the file. A lock of the operating system on a small file beside it, so that it ends with its process, however
 * that dies: the next one takes over at once instead of waiting for leases to run out.
 */
export class Ownership {
  readonly #file: string;
  #lock: Database.Database | undefined;

  constructor(databaseFile: string) {
    this.#file = `${databaseFile}-owner`;
  }

  get isHeld(): boolean {
    return this.#lock !== undefined;
  }

  /** Takes the lock unless another live process has it; true when it is held. */
  take(): boolean {
    if (this.#lock !== undefined) return true;
    const lock = new Database(this.#file, { timeout: 0 });
    try {
      lock.pragma("journal_mode = MEMORY");
      lock.exec("BEGIN EXCLUSIVE");
      this.#lock = lock;
      return true;
    } catch {
      lock.close();
      return false;
    }
  }

  give(): void {
    this.#lock?.close();
    this.#lock = undefined;
  }
}
