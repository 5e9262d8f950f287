import type { Database } from "better-sqlite3";
import type { PigeonholeError } from "../../base/error.js";
import { findFileLoss } from "./find-file-loss.js";
import { type InboxDatabase, createInboxDatabase } from "./inbox-database.js";
import type { OpenFiles } from "./open-files.js";

/** An inbox that checks after each commit, before the batch is answered, that its files are still at their paths. */
export interface CheckedInbox extends InboxDatabase {
  /** The same check without a batch; undefined when the files are in place. */
  check(): PigeonholeError | undefined;
}

/** `files` is undefined for a database in memory, which has none. */
export function createCheckedInbox(db: Database, files: OpenFiles | undefined): CheckedInbox {
  const inbox = createInboxDatabase(db);

  const check = (): PigeonholeError | undefined => (files === undefined ? undefined : findFileLoss(db, files));

  return {
    check,
    runBatch(batch) {
      const results = inbox.runBatch(batch);
      const failure = check();
      if (failure === undefined) return results;
      const { code, message } = failure;
      return { results: batch.commands.map(() => ({ ok: false, code, message, breaking: true })) };
    },
  };
}
