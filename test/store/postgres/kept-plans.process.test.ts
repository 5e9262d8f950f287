import { expect, test } from "vitest";
import { describeOnPostgres } from "../../support/postgres-server.js";
import { acceptLeased, settlements } from "../conformance/fixture.js";
import { openStore } from "./store-on.js";

/** More runs than a connection makes a plan of its own for. */
const RUNS = 12;

describeOnPostgres((database) => {
  const { schema } = database;

  async function readScans(): Promise<{ bySequence: number; byIndex: number }> {
    const { rows } = await database.pool.query<{ seq_scan: string; idx_scan: string }>(
      "SELECT seq_scan, idx_scan FROM pg_stat_user_tables WHERE schemaname = $1 AND relname = 'inbox_work'",
      [schema],
    );
    return { bySequence: Number(rows[0]?.seq_scan), byIndex: Number(rows[0]?.idx_scan) };
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
});
