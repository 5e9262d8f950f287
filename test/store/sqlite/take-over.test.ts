import Database from "better-sqlite3";
import { expect, test } from "vitest";
import * as sqlite from "#pigeonhole/store/sqlite/sqlite-store.js";
import { countWork } from "../../support/operate.js";
import { expectLease, MINUTE, settlements, T } from "../conformance/new-event.js";
import { acceptEach, openOn, settleDone, TAKE_OVERS } from "./take-over.js";

test.each(Object.entries(TAKE_OVERS))("%s", (_, run) => run(sqlite));

const open = (db: Database.Database): unknown[] =>
  db.prepare("SELECT seq, state FROM inbox_work WHERE state <> 'done' ORDER BY seq").all();
const pending = (...seqs: number[]) => seqs.map((seq) => ({ seq, state: "pending" }));

test("a commit that fails settles nothing, and the settlement can be repeated", async () => {
  const file = openOn(sqlite);
  const store = await file.open();
  const leases = await acceptEach(store, { evt_1: {}, evt_2: {}, evt_3: {} });
  file.use((db) => db.exec("CREATE TRIGGER full BEFORE UPDATE ON inbox_work BEGIN SELECT RAISE(ABORT, 'no'); END"));
  const refused = leases.map((lease) => store.settle(settlements.done(lease)));
  for (const result of await Promise.allSettled(refused)) expect(result.status).toBe("rejected");
  expect(await countWork(store, T)).toMatchObject({ running: 3, done: 0 });
  file.use((db) => db.exec("DROP TRIGGER full"));
  await settleDone(store, leases);
  expect(await countWork(store, T)).toMatchObject({ running: 0, done: 3 });
});

test("leases that a second process accepts with end when it dies or lets them run out", async () => {
  const file = openOn(sqlite);
  const store = await file.open();
  const beside = await file.openBeside();
  const first = await acceptEach(store, { evt_1: {} });
  await acceptEach(beside, { evt_2: {}, evt_3: { work: [{ handler: "h" }] }, evt_4: { work: [] } });
  await acceptEach(store, { evt_5: {} });
  await settleDone(store, first);
  await store.close();
  expect(await beside.recover(T)).toEqual({ owner: true, recovered: 2, parked: 0 });
  expect(file.use(open)).toEqual(pending(2, 3, 5));
});

/** As .backup and .restore of sqlite3 do. */
async function copyInto(from: string, to: string): Promise<void> {
  const db = new Database(from);
  await db.backup(to).finally(() => db.close());
}

test("an older copy of the file that is put in place runs what it holds", async () => {
  const file = openOn(sqlite);
  const store = await file.open();
  const leases = await acceptEach(store, { evt_1: {}, evt_2: {}, evt_3: {} });
  await settleDone(store, leases.slice(0, 1));
  await copyInto(file.path, `${file.path}.copy`);
  await settleDone(store, leases.slice(1));
  const [stale] = await acceptEach(store, { evt_4: {}, evt_5: {} });
  await copyInto(`${file.path}.copy`, file.path);
  const others = await acceptEach(store, { evt_6: {} });
  expect(others).toMatchObject([{ seq: 4 }]);
  expect(await store.settle(settlements.done(expectLease(stale)))).toBe("lost");
  await store.recover(T + MINUTE + 1);
  expect(file.use(open)).toEqual(pending(2, 3, 4));
  expect(await store.settle(settlements.done(expectLease(others[0])))).toBe("lost");
});
