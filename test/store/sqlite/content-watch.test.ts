import { once } from "node:events";
import { openSync, readSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { ContentWatch } from "#pigeonhole/store/sqlite/content-watch.js";
import { makeFolder } from "../../support/folder.js";

/** SQLite keeps two copies of the index in the shared memory, of 48 bytes each, and writes the second one first. */
const LAST_BYTE_OF_INDEX = 95;

function watchDatabase() {
  const file = join(makeFolder(), "inbox.db");
  const db = new Database(file);
  onTestFinished(() => void db.close());
  db.pragma("journal_mode = WAL");
  db.exec("CREATE TABLE kept (x); INSERT INTO kept VALUES (1)");
  const sharedMemory = openSync(`${file}-shm`, "r+");
  const watch = new ContentWatch({ database: [openSync(file, "r")], sharedMemory: [sharedMemory] }, `${file}-wal`);
  return {
    watch,
    /** The other connection goes on once the check has begun to wait. */
    toggleCommitInThread: () => endCommitInThread(sharedMemory),
    overwrite: () => writeFileSync(file, "of another program\n".repeat(100)),
    /** What a check sees in the middle of the commit of another connection; again, what it sees after that. */
    toggleCommit: () => {
      const byte = Buffer.alloc(1);
      readSync(sharedMemory, byte, 0, 1, LAST_BYTE_OF_INDEX);
      writeSync(sharedMemory, Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, LAST_BYTE_OF_INDEX);
    },
  };
}

function endCommitInThread(sharedMemory: number): Promise<unknown> {
  const code = `
    const { readSync, writeSync } = require("node:fs");
    const { parentPort, workerData: [file, at] } = require("node:worker_threads");
    parentPort.postMessage("begun");
    setTimeout(() => {
      const byte = Buffer.alloc(1);
      readSync(file, byte, 0, 1, at);
      byte[0] ^= 1;
      writeSync(file, byte, 0, 1, at);
    }, 20);`;
  const worker = new Worker(code, { eval: true, workerData: [sharedMemory, LAST_BYTE_OF_INDEX] });
  return once(worker, "message");
}

test("a database that is overwritten during another connection's commit counts as changed before an answer", async () => {
  const { watch, overwrite, toggleCommit, toggleCommitInThread } = watchDatabase();
  toggleCommit();
  overwrite();
  await toggleCommitInThread();
  expect(watch.changed()).toBe("database");
});

test("a database that is overwritten after a check during another connection's commit counts as changed", () => {
  const { watch, overwrite, toggleCommit } = watchDatabase();
  toggleCommit();
  expect(watch.changed()).toBeUndefined();
  toggleCommit();
  overwrite();
  expect(watch.changed()).toBe("database");
});

test("a database that is overwritten during a commit that stands still counts as changed after it", () => {
  const { watch, overwrite, toggleCommit } = watchDatabase();
  toggleCommit();
  overwrite();
  expect(watch.changed()).toBeUndefined();
  toggleCommit();
  expect(watch.changed()).toBe("database");
});
