import { statSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { MINUTE, SECOND } from "../../base/duration.js";
import type { StoreAlarm } from "../store.js";
import { asStoreError } from "./store-error.js";

/** Four times what a checkpoint leaves behind. */
const LARGE_BYTES = 64 * 1024 * 1024;

/** A backup or a slow query ends within this time. */
const PATIENCE_MS = 5 * SECOND;

const REPEAT_MS = MINUTE;

/** The WAL cannot be emptied: a reader still needs its content, or the database cannot be written. */
export type WalAlarm = Extract<StoreAlarm, { kind: "wal_blocked" | "checkpoint_failed" }>;

/**
 * Detects a WAL that grows with every commit and finally fills the disk. SQLite itself says nothing when a checkpoint
 * fails: the commit that caused it is in the WAL. Shown in test/store/wal-size.process.test.ts.
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
  check(now: number): WalAlarm | undefined {
    const walBytes = statSync(this.#walPath, { throwIfNoEntry: false })?.size ?? 0;
    if (walBytes < LARGE_BYTES) {
      this.#largeSince = undefined;
      return undefined;
    }
    this.#largeSince ??= now;
    const forMs = now - this.#largeSince;
    if (forMs < PATIENCE_MS || (this.#askedAt !== undefined && now - this.#askedAt < REPEAT_MS)) return undefined;
    this.#askedAt = now;
    try {
      // The file keeps its size until the next commit starts it from the beginning, so only SQLite knows.
      const [row] = this.#db.pragma("wal_checkpoint(PASSIVE)") as { busy: 0 | 1; log: number; checkpointed: number }[];
      // Another thread or process makes one at this moment.
      if (row?.busy === 1) this.#askedAt = undefined;
      return row !== undefined && row.checkpointed < row.log ? { kind: "wal_blocked", walBytes, forMs } : undefined;
    } catch (error) {
      const { code, message } = asStoreError(error, "Moving the WAL into the database");
      return { kind: "checkpoint_failed", walBytes, code, message };
    }
  }
}
