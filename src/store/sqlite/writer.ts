import type { Database } from "better-sqlite3";
import type { PigeonholeError } from "../../base/error.js";
import type { BatchPacker, BatchResults } from "./batch.js";
import { createCheckedInbox } from "./inbox-database.js";
import type { OpenFiles } from "./open-files.js";

/** Runs batches, on a separate thread or on this one. One batch at a time. */
export interface Writer {
  run(batch: BatchPacker): Promise<BatchResults>;
  /**
   * True when commits are worth sharing: a commit on a thread costs that thread and the main one more than several
   * settlements do.
   */
  readonly isThread: boolean;
  /** Resolves when the files are found to be removed while no batch runs. */
  readonly filesLost: Promise<PigeonholeError>;
  close(): Promise<void>;
}

/** Runs batches on the caller's thread: for `:memory:` and for tests. */
export function createInlineWriter(db: Database, files: OpenFiles | undefined): Writer {
  const inbox = createCheckedInbox(db, files);
  return {
    // oxlint-disable-next-line require-await -- a throw must become a rejection
    run: async (batch) => inbox.runBatch({ commands: batch.commands, bodies: batch.joinBodies() }),
    isThread: false,
    // Without a thread, the files are not checked between two batches.
    filesLost: new Promise(() => undefined),
    close: () => Promise.resolve(),
  };
}
