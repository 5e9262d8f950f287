import { expect, test } from "vitest";
import { describeOnPostgres } from "../../support/postgres-server.js";
import { DAY, MINUTE, T, newEvent } from "../conformance/new-event.js";
import { openStore } from "./store-on.js";

/** What a clock showed that was a year ahead. */
const AHEAD = T + 365 * DAY;
const WAIT = 2 * MINUTE;
/** Of each kind; several pages. */
const ROWS = 12_345;

describeOnPostgres((database) => {
  const { schema } = database;

  /** Work without events, which is all that is read. */
  async function fill(from: number, values: string): Promise<void> {
    await database.pool.query(
      `INSERT INTO ${schema}.inbox_work (seq, handler, state, started, finished, due_at, waits_since, key, waits_for_key)
       SELECT ${from} + n, ${values} FROM generate_series(1, ${ROWS}) AS n`,
    );
  }

  test("restartWaits corrects many waits in pages, and others use the connection meanwhile", async () => {
    const store = await openStore(database);
    const wrong = `${AHEAD + WAIT}, ${AHEAD}`;
    await fill(1e6, `'h' || n % 3, 'pending', n % 4, n % 4 - least(n % 4, n % 3), ${wrong}, NULL, false`);
    await fill(2e6, `'k' || n % 3, 'pending', 0, 0, ${wrong}, 'key ' || n % 5, true`);
    await fill(3e6, `'right', 'pending', 0, 0, ${T + WAIT}, ${T}, NULL, false`);
    await fill(4e6, `'due', 'pending', 0, 0, ${T - 2}, ${T - 2}, NULL, false`);
    let hasEnded = false;
    const restarted = store.restartWaits({ now: T, leaseUntil: T + MINUTE }).finally(() => (hasEnded = true));
    const glances: boolean[] = [];
    for (let index = 0; index < 3; index += 1) {
      await store.accept(newEvent(`evt_${index}`));
      await store.renew([], T);
      glances.push(hasEnded);
    }
    expect(await restarted).toBe(2 * ROWS);
    expect(glances[0]).toBe(false);
    const { rows } = await database.pool.query(
      `SELECT left(handler, 1) AS name, due_at AS due, waits_since AS since, count(*)::int AS rows
       FROM ${schema}.inbox_work WHERE seq > 1000000 GROUP BY 1, 2, 3 ORDER BY 1`,
    );
    const at = (ms: number) => String(ms);
    expect(rows).toEqual([
      { name: "d", due: at(T - 2), since: at(T - 2), rows: ROWS },
      { name: "h", due: at(T + WAIT), since: at(T), rows: ROWS },
      { name: "k", due: at(T + WAIT), since: at(T), rows: ROWS },
      { name: "r", due: at(T + WAIT), since: at(T), rows: ROWS },
    ]);
    expect(await store.restartWaits({ now: T, leaseUntil: T + MINUTE })).toBe(0);
  });
});
