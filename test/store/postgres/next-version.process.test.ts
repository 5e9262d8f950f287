import { setTimeout as sleep } from "node:timers/promises";
import type { createPostgresStore } from "pigeonhole/postgres";
import { expect, onTestFinished, test } from "vitest";
import type { PostgresTransaction } from "#pigeonhole/store/postgres/call-with-client.js";
import { POSTGRES_MIGRATIONS } from "#pigeonhole/store/postgres/migrations.js";
import { describeOnPostgres } from "../../support/postgres-server.js";
import { makeGate } from "../../support/receiver.js";
import type { StoreUnderTest } from "../conformance/fixture.js";
import { T, newEvent, settlements, expectCode, context } from "../conformance/new-event.js";
import { acceptLeased, statesOf } from "../conformance/lease-page.js";
import { CALLS } from "../conformance/lifecycle.js";
import { testModels } from "../model/test-models.js";
import { postgresKind } from "../postgres-kind.js";
import { loadNextVersion } from "./next-version.js";
import { openStore } from "./store-on.js";
import { operate } from "../../support/operate.js";

type PgStore = ReturnType<typeof createPostgresStore>;

const expectLost = (error: unknown): void => expect(error).toMatchObject({ code: "lease_lost" });

/** Each kind of statement that a working process makes; most find nothing to change. */
async function callEach(store: PgStore): Promise<void> {
  const lease = await acceptLeased(store, `evt_${performance.now()}`);
  for (const call of Object.values(CALLS)) await call(store).catch(expectLost);
  await store.glance?.({ handlers: ["h"], now: T });
  await store.maySend?.();
  expect(await store.holdKey?.(lease, "key")).toBe(true);
  expect(await store.settle(settlements.done(lease))).toBe("settled");
  const inbox = operate(store);
  await Promise.all([inbox.overview(), inbox.listEvents(), inbox.listErrorGroups(), inbox.listContactEvents()]);
  await Promise.all([inbox.readStatuses(), inbox.readFigures("1h"), inbox.listJobs(), inbox.listHandlers()]);
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
    await callEach(store);
    const next = await openOf(await loadNextVersion());
    await callEach(store);
    await callEach(next);
    // Its connections are made again.
    await database.pool.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pigeonhole %'",
    );
    for (const each of [store, next]) await expect.poll(() => each.recover(T).then(Boolean, () => false)).toBe(true);
    await callEach(store);
    const { rows } = await database.pool.query(
      `SELECT next, count(*)::int AS events FROM ${schema}.inbox_event GROUP BY next`,
    );
    expect(rows).toEqual(
      expect.arrayContaining([
        { next: "new", events: 1 },
        { next: "old", events: 4 },
      ]),
    );
  });

  const ofThis = postgresKind(database);
  /** The first store is of this version, and those that come after it are of the next one. */
  async function createOfBoth(): Promise<StoreUnderTest<PostgresTransaction>> {
    const { createPostgresStore: create } = await loadNextVersion();
    const another = () => create({ pool: database.pool, schema });
    const under = await ofThis.create();
    const dispose = async (): Promise<void> => {
      await under.dispose();
      await database.pool.query(`DROP SCHEMA ${schema} CASCADE`);
    };
    return { ...under, another, dispose };
  }
  testModels({
    kind: { ...ofThis, name: "this version beside the next", create: createOfBoth },
    stores: 2,
    numRuns: 2,
    maxCommands: 60,
  });

  test("a version is refused at its start on tables of the next one, which it does not change", async () => {
    const running = await openStore(database);
    await openOf(await loadNextVersion());
    for (const migrate of [true, false]) {
      await expectCode(openStore(database, database.pool, { migrate }), "schema_too_new");
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
