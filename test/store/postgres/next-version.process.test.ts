import { setTimeout as sleep } from "node:timers/promises";
import { createPostgresStore } from "pigeonhole/postgres";
import { expect, onTestFinished, test } from "vitest";
import type { Lease } from "#pigeonhole/store/work.js";
import { POSTGRES_MIGRATIONS } from "#pigeonhole/store/postgres/migrations.js";
import { NO_FIGURES } from "#pigeonhole/store/figure-rows.js";
import { describeOnPostgres } from "../../support/postgres-server.js";
import { makeGate } from "../../support/receiver.js";
import { DAY, NOTHING_TO_PRUNE, T, newEvent, settlements, expectCode, context } from "../conformance/new-event.js";
import { acceptLeased, idsOf, leasePage, statesOf } from "../conformance/lease-page.js";
import { processStatus } from "../conformance/figures.js";
import { newRecord } from "../conformance/new-record.js";
import { settleAll, takeSend } from "../conformance/outbox-fixture.js";
import { loadNextVersion } from "./next-version.js";
import { openStore } from "./store-on.js";
import { writeRuns } from "../../support/ended-runs.js";
import { operate, readFigures } from "../../support/operate.js";

type PgStore = ReturnType<typeof createPostgresStore>;

/** What a process writes of itself, and reads of all. */
async function report(store: PgStore, process: string): Promise<void> {
  const status = processStatus({ process });
  await store.writeFigures({ process, now: T, figures: { ...NO_FIGURES, answers: { accepted: 1 } }, status });
  expect((await operate(store).readStatuses()).map((each) => each.process)).toContain(process);
  expect((await readFigures(store, { range: "1h", now: T })).answers.accepted?.at(-1)).toBeGreaterThan(0);
}

/** Each kind of statement that a working process makes, on events of this name. */
async function liveThrough(store: PgStore, name: string): Promise<void> {
  const ids = ["done", "failed", "dead", "committed", "given"].map((what) => `${name} ${what}`);
  const leases = await Promise.all(ids.map((id) => acceptLeased(store, id)));
  const [done, failed, dead, committed, given] = leases as [Lease, Lease, Lease, Lease, Lease];
  expect(await store.accept(newEvent(`${name} done`))).toEqual({ kind: "duplicate", otherBytes: false });
  expect(await store.holdKey?.(done, name)).toBe(true);
  expect(await store.saveStep(done, "step", "1", T)).toBe("settled");
  expect(await store.loadSteps(done)).toEqual({ step: "1" });
  expect(await store.renew(leases, T + DAY)).toEqual([]);
  expect(await store.settle({ ...settlements.done(done), dropSteps: true })).toBe("settled");
  expect(await store.settle({ ...settlements.pending(failed, T), stack: "it failed" })).toBe("settled");
  expect(await store.settle(settlements.dead(dead))).toBe("settled");
  await store.commit({ ...settlements.done(committed), records: [newRecord(`${name} of a run`)] }, ({ client }) =>
    client.query("SELECT 1"),
  );
  await store.release([given], T);
  expect(idsOf(await leasePage(store)).toSorted()).toEqual([`${name} failed`, `${name} given`]);
  expect(await store.replan({ seq: dead.seq, handlers: ["h"], now: T })).toBe(1);
  expect(await operate(store).changeEvent("discard", `${name} dead`)).toEqual({ work: 1, readAgain: 0 });
  await store.record(newRecord(name), T);
  await settleAll(store, await takeSend(store), "done");
  expect(await store.maySend?.()).toBeTypeOf("boolean");
  await store.keepPolicies([{ handler: "h", maxAttempts: 3, types: [] }]);
  await writeRuns(store, [{ handler: "h", outcome: "done", fromMs: 0, runs: 1 }], T);
  await store.noteTimes({ clock: T });
  await store.prune({ ...NOTHING_TO_PRUNE, batch: 10 });
  expect(await store.glance?.({ handlers: ["h"], now: T })).toMatchObject({ due: [] });
  expect(await store.recover(T)).toMatchObject({ recovered: 0, parked: 0 });
  expect((await operate(store).listEvents({ limit: 500 })).items.length).toBeGreaterThan(4);
  expect(await statesOf(store, `${name} failed`)).toEqual({ h: "running" });
  expect(await store.settle(settlements.done(failed))).toBe("lost");
}

describeOnPostgres((database) => {
  const { schema } = database;

  async function openOf(version: { createPostgresStore: typeof createPostgresStore }): Promise<PgStore> {
    const store = version.createPostgresStore({ pool: database.pool, schema });
    onTestFinished(() => store.close());
    await store.open(context);
    await store.recover(T);
    return store;
  }

  test("the statements of a running process go on when the next version has changed the tables", async () => {
    const store = await openStore(database);
    await liveThrough(store, "before");
    await report(store, "before");
    const next = await openOf(await loadNextVersion());
    await liveThrough(store, "after");
    await report(store, "after");
    // Its connections are made again.
    await database.pool.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pigeonhole %'",
    );
    await expect.poll(() => store.recover(T).then(Boolean, () => false)).toBe(true);
    await expect.poll(() => next.recover(T).then(Boolean, () => false)).toBe(true);
    await liveThrough(store, "connected again");
    await report(store, "connected again");
    await liveThrough(next, "next");
    await report(next, "next");
    const { rows } = await database.pool.query(
      `SELECT next, count(*)::int AS events FROM ${schema}.inbox_event GROUP BY next`,
    );
    expect(rows).toEqual(
      expect.arrayContaining([
        { next: "new", events: 5 },
        { next: "old", events: 15 },
      ]),
    );
  });

  test("a version is refused at its start on tables of the next one, which it does not change", async () => {
    const running = await openStore(database);
    await openOf(await loadNextVersion());
    for (const migrate of [true, false]) {
      const store = createPostgresStore({ pool: database.pool, schema, migrate });
      onTestFinished(() => store.close());
      await expectCode(store.open(context), "schema_too_new");
    }
    expect(await running.accept(newEvent("evt_1"))).toMatchObject({ kind: "stored" });
    const { rows } = await database.pool.query(`SELECT version FROM ${schema}.migration ORDER BY version`);
    expect(rows.at(-1)).toEqual({ version: POSTGRES_MIGRATIONS.length + 1 });
  });

  test("the next version waits for a commit that is open, and the running process accepts and settles meanwhile", async () => {
    const store = await openStore(database);
    const lease = await acceptLeased(store, "committed");
    const [begun, gate] = [makeGate(), makeGate()];
    onTestFinished(() => gate.open());
    const committed = store.commit(settlements.done(lease), () => {
      begun.open();
      return gate.passed;
    });
    await begun.passed;
    let hasOpened = false;
    const opening = openOf(await loadNextVersion()).then((next) => ((hasOpened = true), next));
    // Longer than a statement of the running process may wait for a lock.
    for (const until = performance.now() + 2_500; performance.now() < until; await sleep(50)) {
      const other = await acceptLeased(store, `evt_${performance.now()}`);
      expect(await store.settle(settlements.done(other))).toBe("settled");
    }
    expect(hasOpened).toBe(false);
    gate.open();
    await committed;
    const next = await opening;
    expect(await statesOf(next, "committed")).toEqual({ h: "done" });
  });
});
