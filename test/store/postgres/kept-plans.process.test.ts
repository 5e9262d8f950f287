import { expect, test } from "vitest";
import { describeOnPostgres, startPostgres } from "../../support/postgres-server.js";
import type { PostgresStore } from "#pigeonhole/store/postgres/postgres-store.js";
import type { Lease } from "#pigeonhole/store/work.js";
import { T, settlements } from "../conformance/new-event.js";
import { acceptLeased } from "../conformance/lease-page.js";
import { borrowClient, openStore } from "./store-on.js";
import { countWork, operate } from "../../support/operate.js";

/** More runs than a connection makes a plan of its own for. */
const RUNS = 12;

describeOnPostgres((database) => {
  const { schema } = database;

  async function readScans(): Promise<{ bySequence: number; byIndex: number; read: number }> {
    const { rows } = await database.pool.query<{ seq_scan: string; idx_scan: string; idx_tup_fetch: string }>(
      "SELECT seq_scan, idx_scan, idx_tup_fetch FROM pg_stat_user_tables WHERE schemaname = $1 AND relname = 'inbox_work'",
      [schema],
    );
    return {
      bySequence: Number(rows[0]?.seq_scan),
      byIndex: Number(rows[0]?.idx_scan),
      read: Number(rows[0]?.idx_tup_fetch),
    };
  }

  test("a plan that was made for an empty inbox does not read a large one through", async () => {
    const store = await openStore(database);
    await database.pool.query(`VACUUM ANALYZE ${schema}.inbox_work`);
    for (let run = 0; run < RUNS; run += 1) {
      await store.settle(settlements.done(await acceptLeased(store, `done_${run}`)));
      await store.settle(settlements.pending(await acceptLeased(store, `later_${run}`)));
    }
    await database.pool.query(`
      INSERT INTO ${schema}.inbox_work (seq, handler, state, due_at, started, finished)
      SELECT n, 'other', 'pending', 1e15, 0, 0 FROM generate_series(1000000, 1050000) AS n`);
    // The server counts with a delay.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const before = await readScans();
    for (let run = 0; run < RUNS; run += 1) {
      await store.settle(settlements.done(await acceptLeased(store, `done_again_${run}`)));
      await store.settle(settlements.pending(await acceptLeased(store, `later_again_${run}`)));
    }
    await expect.poll(async () => (await readScans()).byIndex).toBeGreaterThanOrEqual(before.byIndex + 2 * RUNS);
    expect((await readScans()).bySequence).toBe(before.bySequence);
  });

  test("work that is not done is counted and listed without a look at what is done", async () => {
    const store = await openStore(database);
    await database.pool.query(`
      INSERT INTO ${schema}.inbox_event (seq, id, type, test, received_at, signed_at, body_length, body_crc)
      SELECT n, n, 'email.sent', false, n, n, 1, 1 FROM generate_series(1000000, 1020000) AS n`);
    await database.pool.query(`
      INSERT INTO ${schema}.inbox_work (seq, handler, state, settled_at, started, finished)
      SELECT n, 'h', 'done', 1, 1, 0 FROM generate_series(1000000, 1020000) AS n`);
    await acceptLeased(store, "running");
    await store.settle(settlements.pending(await acceptLeased(store, "later")));
    await store.settle(settlements.dead(await acceptLeased(store, "dead")));
    await database.pool.query(`VACUUM ANALYZE ${schema}.inbox_work`);
    // What the preparations read is counted by then.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const before = await readScans();
    expect(await countWork(store, T)).toMatchObject({ retrying: 1, running: 1, dead: 1 });
    for (const state of ["retrying", "running", "dead"] as const) {
      expect((await operate(store).listEvents({ state })).items).toHaveLength(1);
    }
    await expect.poll(async () => (await readScans()).byIndex).toBeGreaterThan(before.byIndex + 3);
    const after = await readScans();
    expect(after.bySequence).toBe(before.bySequence);
    expect(after.read - before.read).toBeLessThan(100);
  });

  test("an id that no event has is not looked for among all events", async () => {
    const store = await openStore(database);
    await database.pool.query(`
      INSERT INTO ${schema}.inbox_event (seq, id, type, test, received_at, signed_at, body_length, body_crc)
      SELECT n, n, 'email.sent', false, n, n, 1, 1 FROM generate_series(1, 20000) AS n`);
    await database.pool.query(`VACUUM ANALYZE ${schema}.inbox_event`);
    expect(await operate(store).getEvent("unknown")).toBeUndefined();
    const readUsed = async (): Promise<string[]> => {
      const { rows } = await database.pool.query<{ name: string }>(
        "SELECT indexrelname AS name FROM pg_stat_user_indexes WHERE schemaname = $1 AND relname = 'inbox_event' AND idx_scan > 0",
        [schema],
      );
      return rows.map(({ name }) => name).toSorted();
    };
    await expect.poll(readUsed).toEqual(["inbox_event_id_key", "inbox_event_of_source"]);
  });

  test.each<[string, (store: PostgresStore, lease: Lease) => Promise<unknown>]>([
    ["settling it", (store, lease) => store.settle(settlements.done(lease))],
    ["ctx.commit", (store, lease) => store.commit(settlements.done(lease), ({ client }) => client.query("SELECT 1"))],
    ["settling it for a later run", (store, lease) => store.settle(settlements.pending(lease))],
    ["releasing it", (store, lease) => store.release([lease], T)],
    ["renewing it", (store, lease) => store.renew([lease], T)],
    ["keeping a step", (store, lease) => store.saveStep(lease, "step", "1", T)],
    ["taking a key", (store, lease) => store.holdKey?.(lease, String(lease.seq)) ?? Promise.resolve()],
  ])(
    "%s finds leased work by its key, not among all that was leased since an old transaction began",
    async (_, use) => {
      const store = await openStore(database);
      const old = await borrowClient(database.pool);
      await old.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_current_xact_id()");
      for (let run = 0; run < 3 * RUNS; run += 1) {
        const lease = await acceptLeased(store, `evt_${run}`);
        await use(store, lease);
        await operate(store).changeEvent("discard", `evt_${run}`);
      }
      const readLeased = async (): Promise<Record<string, number>> => {
        const { rows } = await database.pool.query<{ name: string; read: string }>(
          "SELECT indexrelname AS name, idx_tup_read AS read FROM pg_stat_user_indexes WHERE schemaname = $1",
          [schema],
        );
        return Object.fromEntries(rows.map(({ name, read }) => [name, Number(read)]));
      };
      await expect.poll(async () => (await readLeased())["inbox_work_pkey"]).toBeGreaterThanOrEqual(3 * RUNS);
      expect((await readLeased())["inbox_work_leased"]).toBeLessThan(RUNS);
    },
  );
}, startPostgres);
