import type { Database } from "better-sqlite3";
import { createInboxDatabase } from "./inbox-database.js";
import type { Writer } from "./writer.js";

/** Runs batches on the caller's thread: for `:memory:` and for tests. */
export function createInlineWriter(db: Database): Writer {
  const inbox = createInboxDatabase(db);
  return {
    // oxlint-disable-next-line require-await -- a throw must become a rejection
    run: async (commands) => inbox.runBatch(commands),
    close: () => Promise.resolve(),
  };
}
