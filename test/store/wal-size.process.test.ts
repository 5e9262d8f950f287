import { statSync, truncateSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { WalWatch } from "#pigeonhole/store/sqlite/wal-watch.js";
import type { Store, StoreAlarm } from "#pigeonhole/store/store.js";
import { startChild } from "./children/child.js";
import { context, newEvent } from "./conformance/new-event.js";
import { copyPackage, loadPackage } from "../simulation/package-copy.js";
import { tempFile } from "../support/store-in.js";
import { openFile } from "./open-file.js";

const MEGABYTE = 1024 * 1024;

let file: string;
let alarms: StoreAlarm[];
let store: Store;

beforeEach(async () => {
  file = tempFile();
  alarms = [];
  store = await openFile(file, { onAlarm: (alarm) => alarms.push(alarm) });
});

const walMegabytes = (): number => statSync(`${file}-wal`).size / MEGABYTE;
let events = 0;

async function acceptMegabytes(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) {
    await store.accept(newEvent(`evt_${(events += 1)}`, { body: Buffer.alloc(MEGABYTE) }));
  }
}

test("a long reader that keeps the WAL from being emptied raises an alarm, and the WAL shrinks once it has ended", async () => {
  await acceptMegabytes(1);
  const reader = startChild("hold-reader", file);
  expect(await reader.line()).toBe("reading");
  await acceptMegabytes(80);
  expect(walMegabytes()).toBeGreaterThan(64);
  await expect.poll(() => alarms.map(({ kind }) => kind)).toEqual(["wal_blocked"]);
  expect(alarms[0]).toMatchObject({ walBytes: statSync(`${file}-wal`).size });

  reader.say("end");
  expect(await reader.line()).toBe("ended");
  // The first one ends in a checkpoint, the next begins the WAL again.
  await acceptMegabytes(3);
  expect(walMegabytes()).toBeLessThan(20);
  await reader.kill();
});

test("a WAL that cannot be moved into the database raises an alarm with the cause", () => {
  const large = `${file}-large`;
  writeFileSync(large, "");
  truncateSync(large, 80 * MEGABYTE);
  const db = new Database(`${file}-other`);
  onTestFinished(() => void db.close());
  db.pragma("journal_mode = WAL");
  // SQLite makes no checkpoint within a transaction of the same connection.
  db.exec("BEGIN IMMEDIATE; CREATE TABLE t (a)");
  const watch = new WalWatch(db, large);
  expect(watch.check(0)).toBeUndefined();
  expect(watch.check(5_000)).toEqual({
    kind: "checkpoint_failed",
    walBytes: 80 * MEGABYTE,
    code: "store_busy",
    message: expect.stringContaining("Moving the WAL into the database failed: SQLITE_LOCKED") as string,
  });
});

test("a large WAL without a reader raises no alarm", async () => {
  await store.accept(newEvent("large", { body: Buffer.alloc(80 * MEGABYTE) }));
  expect(walMegabytes()).toBeGreaterThan(64);
  await new Promise((resolve) => setTimeout(resolve, 6_500));
  expect(alarms).toEqual([]);
});

test("the WAL is copied into the database beside the commits, long before the writer would", async () => {
  const reader = new Database(file, { readonly: true });
  onTestFinished(() => void reader.close());
  const pages = (): unknown => reader.prepare("PRAGMA wal_checkpoint(NOOP)").get();
  for (let count = 0; count < 700; count += 1) {
    await store.accept(newEvent(`evt_${(events += 1)}`, { body: Buffer.alloc(4096) }));
  }
  await expect.poll(pages).toMatchObject({ checkpointed: expect.toSatisfy((count: number) => count > 0) as number });
  expect(pages()).toMatchObject({ log: expect.toSatisfy((count: number) => count < 4000) as number });
});

test("a WAL whose thread has ended is emptied by the writer", async () => {
  const copy = copyPackage({
    name: "no checkpoint thread",
    changes: [
      {
        file: "store/sqlite/checkpoint-thread.js",
        from: 'db?.pragma("wal_checkpoint(PASSIVE)")',
        to: "process.exit(1)",
      },
    ],
  });
  onTestFinished(copy.remove);
  const { createSqliteStore } = await loadPackage(copy);
  const other = tempFile();
  const lonely = createSqliteStore({ file: other });
  onTestFinished(() => lonely.close());
  await lonely.open(context);
  for (let batch = 0; batch < 10; batch += 1) {
    const bodies = Array.from({ length: 70 }, () => newEvent(`evt_${(events += 1)}`, { body: Buffer.alloc(65_536) }));
    await Promise.all(bodies.map((event) => lonely.accept(event)));
  }
  expect(statSync(`${other}-wal`).size / MEGABYTE).toBeLessThan(32);
});
