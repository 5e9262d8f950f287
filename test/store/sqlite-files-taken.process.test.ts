import { readFileSync, renameSync, rmSync, statSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { fakeClock, type FakeClock } from "pigeonhole/testing";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { createSqliteStore } from "#pigeonhole/store/sqlite/sqlite-store.js";
import type { Store, StoreAlarm } from "#pigeonhole/store/store.js";
import { DAY, MINUTE, newEvent, settlements, T, expectCode, context } from "./conformance/new-event.js";
import { acceptLeased, idsOf, leasePage, statesOf } from "./conformance/lease-page.js";
import { newRecord } from "./conformance/new-record.js";
import { leaseSend } from "./conformance/outbox-fixture.js";
import { openFile } from "./open-file.js";
import { makeFolder } from "../support/folder.js";
import { operate } from "../support/operate.js";

// Files that are taken away under an open store: what a call meets. What is noticed in between is in
// sqlite-replaced.process.test.ts, what becomes of whole receivers in test/process/file-taken.test.ts.

const WAL_HEADER_BYTES = 32;
/** A page and its header. */
const FRAME_BYTES = 24 + 4096;

let folder: string;
let file: string;
let alarms: StoreAlarm[];
let clock: FakeClock;
let store: Store;

beforeEach(() => {
  folder = makeFolder();
  file = join(folder, "inbox.db");
  alarms = [];
  clock = fakeClock();
});

async function openStore(thread = true, at = file): Promise<void> {
  store = await openFile(at, { thread, clock, onAlarm: (alarm) => alarms.push(alarm) });
}

const codes = (): string[] => alarms.map((alarm) => (alarm.kind === "store_unavailable" ? alarm.code : alarm.kind));
/** Looks whether the files are back first. Undefined while the store refuses. */
async function tryAccept(id: string): Promise<unknown> {
  await clock.advance(250);
  return store.accept(newEvent(id)).then(
    ({ kind }) => kind,
    () => undefined,
  );
}
const untilItTakes = (id: string) => expect.poll(() => tryAccept(id), { interval: 5 }).toBe("stored");

test("an error that keeps a store from opening its files again is logged once, and the next one too", async () => {
  const log: unknown[] = [];
  const logger = { ...silentLogger, error: (fields: object, message: string) => log.push({ ...fields, message }) };
  let failures: Error[] = [];
  const setup = (): void => {
    const failure = failures[0];
    if (failures.length > 1) failures.shift();
    if (failure !== undefined) throw failure;
  };
  store = createSqliteStore({ file, setup });
  onTestFinished(() => store.close());
  await store.open({ ...context, clock, logger });
  const [first, second] = [new TypeError("quotes a row"), new RangeError("quotes a row")];
  failures = [first, first, second];
  rmSync(`${file}-wal`);
  const line = (error: string) => ({ error, message: "reopen_failed", at: expect.any(Array) });
  await expectCode(store.accept(newEvent("refused")), "store_replaced");
  const look = () => clock.advance(250).then(() => log);
  await expect.poll(look, { interval: 5 }).toEqual([line("TypeError"), line("RangeError")]);
  failures = [];
  await untilItTakes("after");
  expect(log).toHaveLength(2);
});

describe.runIf(process.platform === "linux").each<[string, number]>([
  ["emptied", 0],
  ["cut off after its first frame", WAL_HEADER_BYTES + FRAME_BYTES],
])("a WAL that was changed in place (%s) right before a commit, which makes it long again", (_, length) => {
  test.each([true, false])(
    "makes the store refuse that event (thread: %s), and is left for inspection",
    async (thread) => {
      await openStore(thread);
      await store.accept(newEvent("before"));
      truncateSync(`${file}-wal`, length);
      await expectCode(store.accept(newEvent("after")), "store_corrupt");
      const left = readFileSync(file);
      await store.close();
      expect(readFileSync(file).equals(left)).toBe(true);
      expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
    },
  );
});

test.each([true, false])("a replaced file makes a user's commit and later calls fail (thread: %s)", async (thread) => {
  await openStore(thread);
  const lease = await acceptLeased(store, "evt_1");
  renameSync(file, `${file}.moved`);
  await expectCode(
    store.commit(settlements.done(lease), () => undefined),
    "store_replaced",
  );
  await expectCode(store.accept(newEvent("evt_2")), "store_replaced");
  expect(codes()).toEqual(["store_replaced"]);
});

test("a symbolic link that changes its target is noticed, and one that stays works like a path", async () => {
  const link = join(folder, "link.db");
  symlinkSync(file, link);
  await openStore(true, link);
  await store.accept(newEvent("before"));
  rmSync(link);
  symlinkSync(join(folder, "other.db"), link);
  await expectCode(store.accept(newEvent("after")), "store_replaced");
});

test("the owner of a replaced file remains the owner, with the work that it has leased", async () => {
  await openStore();
  expect(await store.recover(T)).toMatchObject({ owner: true });
  await store.accept(newEvent("before"));
  const lease = await acceptLeased(store, "evt_1");
  rmSync(`${file}-owner`);
  await expectCode(store.accept(newEvent("refused")), "store_replaced");
  await untilItTakes("after");
  expect(await store.recover(T)).toEqual({ owner: true, recovered: 0, parked: 0 });
  await store.settle(settlements.done(lease));
  expect(await statesOf(store, "evt_1")).toEqual({ h: "done" });
});

test("an owner that was replaced meanwhile ends the other process's calls and continues its own work", async () => {
  await openStore(false);
  await store.recover(T);
  rmSync(`${file}-owner`);
  const other = await openFile(file, { thread: false });
  expect(await other.recover(T)).toMatchObject({ owner: true });
  await other.record(newRecord("k1"), T);
  expect((await leaseSend(other, { leaseUntil: T + DAY })).send).toBeDefined();
  await expectCode(store.accept(newEvent("refused")), "store_replaced");
  await untilItTakes("after");
  expect(await store.recover(T)).toMatchObject({ owner: false });
  expect(idsOf(await leasePage(store))).toEqual(["refused", "after"]);
  await other.close();
  expect(await store.recover(T)).toEqual({ owner: true, recovered: 0, parked: 0 });
  expect((await leaseSend(store)).send).toBeDefined();
});

test("a former owner that does not know it yet leases no call, so the new owner can make it at once", async () => {
  await openStore(false);
  await store.recover(T);
  await store.record(newRecord("k1"), T);
  rmSync(`${file}-owner`);
  const other = await openFile(file, { thread: false });
  expect(await other.recover(T)).toMatchObject({ owner: true });
  await expectCode(leaseSend(store, { leaseUntil: T + DAY }), "store_replaced");
  expect((await leaseSend(other)).send).toBeDefined();
  await other.close();
});

test("a call to the API that was leased and refused is repeated after a minute, not after its lease", async () => {
  await openStore(false);
  await store.recover(T);
  await store.record(newRecord("k1"), T);
  rmSync(`${file}-owner`);
  await expectCode(leaseSend(store, { leaseUntil: T + DAY }), "store_replaced");
  await untilItTakes("after");
  await store.recover(T);
  expect((await leaseSend(store)).send).toBeUndefined();
  await store.recover(T + MINUTE + 1);
  expect((await leaseSend(store, { now: T + MINUTE + 1 })).send).toBeDefined();
});

describe("a connection of the app to the old files", () => {
  test("no delivery is accepted while the app keeps the old files open, and all continues once it closes them", async () => {
    await openStore();
    await store.accept(newEvent("before"));
    const own = new Database(file);
    own.prepare("SELECT count(*) FROM inbox_event").get();
    rmSync(`${file}-wal`);
    rmSync(`${file}-shm`);
    await expectCode(store.accept(newEvent("meanwhile")), "store_replaced");
    for (let look = 0; look < 10; look += 1) expect(await tryAccept("meanwhile")).toBeUndefined();
    own.close();
    await untilItTakes("after");
    expect((await operate(store).listEvents({})).items.map(({ id }) => id)).toEqual(["after", "meanwhile", "before"]);
  });
});
