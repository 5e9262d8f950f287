import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { beforeEach, expect, test } from "vitest";
import { backUpInboxFile } from "#pigeonhole/store/sqlite/back-up-inbox-file.js";
import { openInboxFile } from "#pigeonhole/store/sqlite/open-inbox-file.js";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import { startChild } from "./children/child.js";
import { newEvent } from "./conformance/new-event.js";
import { openFile } from "./open-file.js";
import { makeFolder } from "../support/folder.js";

// The command line and the dev page beside a receiver: they leave its files alone, whatever its process did to its own
// locks.

let folder: string;
let file: string;

beforeEach(async () => {
  folder = makeFolder();
  file = join(folder, "inbox.db");
  const store = await openFile(file);
  await store.accept(newEvent("evt_1", { body: Buffer.from("to ann@example.com") }));
  await store.close();
});

async function operate(use: (inbox: InboxOperator) => Promise<unknown>): Promise<void> {
  const inbox = await openInboxFile(file);
  await use(inbox);
  await inbox.close();
}

const USES: [string, () => Promise<unknown>][] = [
  ["looking", () => operate((inbox) => inbox.overview())],
  [
    "changing",
    () =>
      operate(async (inbox) => expect(await inbox.changeEvent("discard", "evt_1")).toEqual({ work: 1, readAgain: 0 })),
  ],
  ["erasing", () => operate(async (inbox) => expect((await inbox.erase({ email: "ann@example.com" })).events).toBe(1))],
  ["copying", () => backUpInboxFile({ file, copy: join(folder, "copy.db") })],
  ["a refused copy", () => backUpInboxFile({ file, copy: file }).catch(() => undefined)],
];

test.each(USES)("%s does not delete the WAL of a receiver that has lost its locks", async (_, use) => {
  const receiver = startChild("lose-locks", file);
  expect(await receiver.line()).toBe("lost");
  const before = statSync(`${file}-wal`);
  await use();
  const after = statSync(`${file}-wal`, { throwIfNoEntry: false });
  expect(after?.ino).toBe(before.ino);
  expect(after?.size).toBeGreaterThanOrEqual(before.size);
  await receiver.kill();
  const db = new Database(file);
  expect(db.prepare("SELECT x FROM mine").pluck().all()).toEqual([7]);
  db.close();
});

test.each(USES)("%s leaves no file next to a database that is not open", async (_, use) => {
  await use();
  expect(
    readdirSync(folder)
      .filter((name) => !name.startsWith("copy.db"))
      .toSorted(),
  ).toEqual(["inbox.db"]);
  expect(existsSync(join(folder, "copy.db-wal"))).toBe(false);
});
