import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import type Database from "better-sqlite3";
import { beforeEach, expect, test } from "vitest";
import { createSqliteStore } from "#pigeonhole/store/sqlite/sqlite-store.js";
import { context, newEvent } from "./conformance/new-event.js";
import { tempFile } from "../support/store-in.js";

let file: string;

beforeEach(() => void (file = tempFile()));
/** SQLite removes the WAL file when the last connection to a database is closed. */
const isOpenSomewhere = (): boolean => existsSync(`${file}-wal`);

test("several calls of open() at once share one opening, and one close() ends it", async () => {
  const store = createSqliteStore({ file });
  await Promise.all([store.open(context), store.open(context), store.open(context)]);
  await store.accept(newEvent("evt_1"));
  expect(isOpenSomewhere()).toBe(true);
  await store.close();
  expect(isOpenSomewhere()).toBe(false);
});

test("close() during open() leaves nothing open", async () => {
  const store = createSqliteStore({ file });
  const opened = store.open(context);
  const closed = store.close();
  await Promise.all([opened, closed]);
  expect(isOpenSomewhere()).toBe(false);
  await expect(store.accept(newEvent("evt_1"))).rejects.toMatchObject({ code: "stopped" });
});

test("open() during close() waits for it, and the store works afterwards", async () => {
  const store = createSqliteStore({ file });
  await store.open(context);
  expect(await store.recover(0)).toMatchObject({ owner: true });
  const closed = store.close();
  const opened = store.open(context);
  await expect(store.accept(newEvent("evt_1"))).rejects.toMatchObject({ code: "stopped" });
  await Promise.all([closed, opened]);
  expect(await store.accept(newEvent("evt_1"))).toMatchObject({ kind: "stored" });
  expect(await store.recover(0)).toMatchObject({ owner: true });
  await store.close();
  expect(isOpenSomewhere()).toBe(false);
});

test("open() may be called again after a failure, even if close() was called in between", async () => {
  const missing = join(dirname(file), "none", "inbox.db");
  const store = createSqliteStore({ file: missing });
  await expect(store.open(context)).rejects.toMatchObject({ code: "store_failed" });
  const failing = store.open(context);
  const closed = store.close();
  const again = store.open(context);
  await expect(failing).rejects.toMatchObject({ code: "store_failed" });
  await closed;
  await expect(again).rejects.toMatchObject({ code: "store_failed" });
  await store.close();
});

test("a relative path is that of the folder in which the store was created, whatever folder the process is in later", async () => {
  const before = process.cwd();
  process.chdir(dirname(file));
  const store = createSqliteStore({ file: basename(file) });
  try {
    await store.open(context);
    process.chdir(before);
    expect(await store.accept(newEvent("evt_1"))).toMatchObject({ kind: "stored" });
  } finally {
    process.chdir(before);
    await store.close();
  }
});

test.runIf(process.platform === "linux")(
  "a file that a second SQLite of the process has open is refused, and taken once that one is closed",
  async () => {
    const store = createSqliteStore({ file });
    await store.open(context);
    await store.close();
    const { DatabaseSync } = createRequire(import.meta.url)("node:sqlite") as { DatabaseSync: typeof Database };
    const second = new DatabaseSync(file);
    second.exec("CREATE TABLE own (x)");
    const refused = { code: "store_replaced", message: expect.stringContaining("node:sqlite") };
    await expect(store.open(context)).rejects.toMatchObject(refused);
    second.close();
    await store.open(context);
    expect(await store.accept(newEvent("evt_1"))).toMatchObject({ kind: "stored" });
    await store.close();
  },
);
