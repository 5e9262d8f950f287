import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { createSqliteStore } from "pigeonhole";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { openInboxFile } from "#pigeonhole/store/sqlite/open-inbox-file.js";
import { errorOf } from "../support/error-of.js";
import { makeFolder } from "../support/folder.js";

let file: string;

beforeEach(() => void (file = join(makeFolder(), "inbox.db")));

/** The store of a receiver that runs, which writes on this thread: another one takes long to start. */
async function openStore() {
  const store = createSqliteStore({ file, thread: false });
  await store.open({ logger: silentLogger });
  onTestFinished(() => store.close());
  return store;
}

async function open() {
  const inbox = await openInboxFile(file);
  onTestFinished(() => inbox.close());
  return inbox;
}

test("policies that the file already has are not written again", async () => {
  const store = await openStore();
  const beside = new Database(file);
  onTestFinished(() => void beside.close());
  const keep = async (maxAttempts: number) => {
    await store.keepPolicies([{ handler: "email.sent", maxAttempts, types: [] }]);
    return beside.pragma("data_version", { simple: true });
  };
  const first = await keep(3);
  expect(await keep(3)).toBe(first);
  expect(await keep(4)).not.toBe(first);
});

test("erase names the WAL that keeps old versions only while a receiver has it", async () => {
  const email = "ann@example.com";
  const store = await openStore();
  const beside = await open();
  expect((await beside.erase({ email, dryRun: true })).walLeft).toBeNull();
  expect((await beside.erase({ email })).walLeft).toBe(`${realpathSync(file)}-wal`);
  await beside.close();
  await store.close();
  expect((await (await open()).erase({ email })).walLeft).toBeNull();
});

test("a missing file is not created, one of an older version is refused, and a closed inbox cannot be used again", async () => {
  const refused = (words: string) => ({ code: "invalid_argument", message: expect.stringContaining(words) as string });
  expect(await errorOf(() => openInboxFile(file))).toMatchObject(refused(file));
  expect(existsSync(file)).toBe(false);
  await (await openStore()).close();
  const inbox = await open();
  await inbox.close();
  expect(await errorOf(() => inbox.overview())).toMatchObject({ code: "stopped" });
  new Database(file).exec("PRAGMA user_version = 0").close();
  expect(await errorOf(() => openInboxFile(file))).toMatchObject(refused("older schema"));
});
