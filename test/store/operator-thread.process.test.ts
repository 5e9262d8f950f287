import { renameSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { OperatorThread } from "#pigeonhole/store/sqlite/operator-in-thread.js";
import { describe, expect, test, vi } from "vitest";
import { createSqliteStore } from "#pigeonhole/store/sqlite/sqlite-store.js";
import Database from "better-sqlite3";
import { endOfTurn } from "../support/end-of-turn.js";
import { countWork } from "../support/operate.js";
import { tempFile } from "../support/receiver.js";
import { context, expectCode, newEvent, T } from "./conformance/new-event.js";
import { openFile } from "./open-file.js";
import { describeManyErrorGroups } from "./operator/error-groups.js";
import { FILE_WITHOUT_THREAD } from "./sqlite-kind.js";

/** A file as a receiver leaves it. */
async function makeInbox(): Promise<string> {
  const file = tempFile();
  const store = createSqliteStore({ file, thread: false });
  await store.open(context);
  await store.close();
  return file;
}

test("a file that was moved away is said to be, and read again once it is put back", async () => {
  const file = await makeInbox();
  const thread = new OperatorThread(file);
  renameSync(file, `${file}.away`);
  await expectCode(thread.call({ method: "overview", args: [], now: Date.now() }), "store_replaced");
  renameSync(`${file}.away`, file);
  expect(await thread.call({ method: "overview", args: [], now: Date.now() })).toMatchObject({ events: { dead: 0 } });
  await thread.end();
});

test("calls of one turn go to the thread in one message, and each gets its own answer", async () => {
  const file = await makeInbox();
  const thread = new OperatorThread(file);
  await thread.call({ method: "overview", args: [], now: Date.now() });
  const sent = vi.spyOn(Worker.prototype, "postMessage");
  const [jobs, paused, refused] = await Promise.allSettled([
    thread.call({ method: "listJobs", args: [], now: Date.now() }),
    thread
      .call({ method: "pauseHandler", args: ["a", "someone"], now: Date.now() })
      .then(() => thread.call({ method: "listHandlers", args: [], now: Date.now() })),
    thread.call({ method: "changeEvent", args: ["retry", "msg_unknown"], now: Date.now() }),
  ]);
  expect(jobs).toMatchObject({ status: "fulfilled", value: [] });
  expect(paused).toMatchObject({ status: "fulfilled", value: [{ handler: "a" }] });
  expect(refused).toMatchObject({ status: "rejected", reason: { code: "not_found" } });
  // The second one once the first was answered.
  expect(sent).toHaveBeenCalledTimes(2);
  sent.mockRestore();
  await thread.end();
});

test("an argument that cannot be copied rejects its call, and the thread goes on", async () => {
  const file = await makeInbox();
  const thread = new OperatorThread(file);
  await expect(thread.call({ method: "listEvents", args: [{ limit: () => 1 }], now: Date.now() })).rejects.toThrow(
    "listEvents was called with something that cannot be sent to a thread",
  );
  expect(await thread.call({ method: "listJobs", args: [], now: Date.now() })).toEqual([]);
  await thread.end();
});

test("a short backlog is counted without a thread, a long one with a thread", async () => {
  const threads: Worker[] = [];
  const note = (worker: Worker): number => threads.push(worker);
  const store = createSqliteStore({ file: tempFile(), thread: true });
  await store.open(context);
  const operator = store.openOperator(Date.now);
  process.on("worker", note);
  await Promise.all(Array.from({ length: 999 }, (_, i) => store.accept(newEvent(`evt_${i}`))));
  expect(await operator.overview()).toMatchObject({ events: { pending: 999 } });
  expect(threads).toHaveLength(0);
  await store.accept(newEvent("evt_999"));
  expect(await operator.overview()).toMatchObject({ events: { pending: 1000 } });
  expect(threads).not.toHaveLength(0);
  process.off("worker", note);
  await store.close();
});

test("a delivery is stored while a long backlog is counted, to the last piece of work", async () => {
  const file = tempFile();
  const store = await openFile(file);
  const db = new Database(file);
  db.exec(`
    WITH RECURSIVE n (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM n WHERE seq < 24000)
    INSERT INTO inbox_work (seq, handler, state, due_at, started, finished)
    SELECT seq, 'h' || (seq % 2), 'pending', seq, 0, 0 FROM n`);
  db.close();
  const ended: unknown[] = [];
  const counted = countWork(store, T).then((counts) => ended.push(counts));
  // It is under way.
  for (let turn = 0; turn < 2; turn += 1) await endOfTurn();
  const stored = store.accept(newEvent("new")).then(() => ended.push("stored"));
  await Promise.all([counted, stored]);
  const backlog = { pendingByHandler: { h0: 12_000, h1: 12_000 } };
  expect(ended).toMatchObject(["stored", backlog]);
});

describe("very many groups of errors of a file", () => describeManyErrorGroups(FILE_WITHOUT_THREAD));
