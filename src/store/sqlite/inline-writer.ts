import type { Database } from "better-sqlite3";
import { createCheckedInbox } from "./checked-inbox.js";
import type { OpenFiles } from "./open-files.js";
import type { Writer } from "./writer.js";

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
