import { statSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { MINUTE, SECOND } from "../../base/duration.js";

/** Four times what a checkpoint leaves behind. */
const LARGE_BYTES = 64 * 1024 * 1024;

/** A backup or a slow query ends within this time. */
const PATIENCE_MS = 5 * SECOND;

const REPEAT_MS = MINUTE;

/** The WAL cannot be emptied, because a reader still needs its content. */
export interface BlockedWal {
  walBytes: number;
  /** For how long this has been observed, in milliseconds. */
  forMs: number;
}

/**
 * Detects a reader that keeps its transaction open, so that the WAL grows with every commit and finally fills the disk.
 */
export class WalWatch {
  readonly #db: Database;
  readonly #walPath: string;
  #largeSince: number | undefined;
  #askedAt: number | undefined;

  constructor(db: Database, walPath: string) {
    this.#db = db;
    this.#walPath = walPath;
  }

  /** `now` in milliseconds of any monotonic clock. SQLite is queried at most once a minute. */
  check(now: number): BlockedWal | undefined {
    const walBytes = statSync(this.#walPath, { throwIfNoEntry: false })?.size ?? 0;
    if (walBytes < LARGE_BYTES) {
      this.#largeSince = undefined;
      return undefined;
    }
    this.#largeSince ??= now;
    const forMs = now - this.#largeSince;
    if (forMs < PATIENCE_MS || (this.#askedAt !== undefined && now - this.#askedAt < REPEAT_MS)) return undefined;
    this.#askedAt = now;
    return this.#isBlocked() ? { walBytes, forMs } : undefined;
  }

  /** The file keeps its size until the next commit starts it from the beginning, so only SQLite knows. */
  #isBlocked(): boolean {
    try {
      const [row] = this.#db.pragma("wal_checkpoint(PASSIVE)") as { log: number; checkpointed: number }[];
      return row !== undefined && row.checkpointed < row.log;
    } catch {
      // If the disk fails, the next commit fails too and reports it.
      return false;
    }
  }
}
