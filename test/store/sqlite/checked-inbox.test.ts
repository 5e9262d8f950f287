import Database from "better-sqlite3";
import { createCheckedInbox } from "#pigeonhole/store/sqlite/inbox-database.js";
import { migrate } from "#pigeonhole/store/sqlite/open-database.js";
import type { OpenFiles } from "#pigeonhole/store/sqlite/open-files.js";
import { expect, test } from "vitest";

test("a batch is refused after a loss, also where the rescue of the file hides the loss from later looks", () => {
  const db = new Database(":memory:");
  migrate(db, ":memory:");
  const losses = ["emptied", undefined];
  const files = { data: { file: "inbox.db" }, isWalPathFree: true, findLoss: () => losses.shift() };
  const inbox = createCheckedInbox(db, files as unknown as OpenFiles);
  expect(inbox.check()).toMatchObject({ code: "store_corrupt" });
  const { results } = inbox.runBatch({ commands: [{ op: "listPaused", input: undefined }], bodies: new Uint8Array() });
  expect(results).toMatchObject([{ ok: false, code: "store_corrupt", breaking: true }]);
  db.close();
});
