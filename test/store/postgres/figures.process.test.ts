import { Pool, type PoolClient } from "pg";
import { expect, onTestFinished, test } from "vitest";
import type { FiguresStore } from "#pigeonhole/store/figures.js";
import { toStoredFigures } from "#pigeonhole/store/stored-figures.js";
import { createPostgresStore } from "#pigeonhole/store/postgres/postgres-store.js";
import { NO_FIGURES } from "#pigeonhole/store/sum-figures.js";
import { describeOnPostgres } from "../../support/postgres-server.js";
import { makeGate } from "../../support/receiver.js";
import { DAY, MINUTE, context } from "../conformance/fixture.js";
import { openStore } from "./store-on.js";

/** Begin of a step of every length. */
const STEP = 1_800_000_000_000;
const SECOND = 1_000;
const accepted = (count: number) => ({ ...NO_FIGURES, answers: { accepted: count } });

/** A pool whose clients stand still, once they have a lock among processes, until the end of the test. */
function poolThatStops(url: string) {
  const [locked, goesOn] = [makeGate(), makeGate()];
  let isArmed = false;
  const pool = new Pool({ connectionString: url });
  onTestFinished(() => pool.end());
  onTestFinished(() => goesOn.open());
  pool.on("error", () => undefined);
  pool.on("connect", (client: PoolClient) => {
    const query = client.query.bind(client) as (given: { text: string }) => Promise<unknown>;
    let stands = false;
    const stopping = async (given: { text: string }): Promise<unknown> => {
      if (stands) await goesOn.passed;
      const result = await query(given);
      if (!isArmed || !given.text.includes("pg_advisory_xact_lock")) return result;
      stands = true;
      locked.open();
      return result;
    };
    Object.assign(client, { query: stopping });
  });
  return { pool, locked: locked.passed, arm: () => (isArmed = true), goOn: () => goesOn.open() };
}

describeOnPostgres((database) => {
  const { schema } = database;

  async function openFigures() {
    const store = await openStore(database);
    const write = (process: string, at: number): Promise<void> =>
      store.writeFigures({ process, now: STEP + at, figures: accepted(1), status: undefined });
    return { store, write };
  }

  const acceptedAt = async (store: FiguresStore, at: number): Promise<number | null | undefined> => {
    const { times, answers } = await store.readFigures({ range: "1h", now: STEP + 30 * MINUTE });
    return answers.accepted?.[times.indexOf(STEP + at)];
  };

  const valuesOf = async <Value>(sql: string): Promise<Value[]> => {
    const { rows } = await database.pool.query<{ value: Value }>(sql.replaceAll("SCHEMA", schema));
    return rows.map(({ value }) => value);
  };

  test("a step that has ended has one row, and a process only those of the steps that are open", async () => {
    const { store, write } = await openFigures();
    for (const at of [0, 10, 20, 30])
      for (const process of ["p1", "p2", "p3"]) await write(process, at * SECOND + Number(process.slice(1)));
    expect(await valuesOf("SELECT step - 1800000000000 AS value FROM SCHEMA.inbox_figure ORDER BY step")).toEqual([
      "0",
      "10000",
    ]);
    const open = `SELECT process || ' ' || step - 1800000000000 AS value FROM SCHEMA.inbox_open_figure
      WHERE resolution = 10000 ORDER BY process`;
    expect(await valuesOf(open)).toEqual([" 20000", "p1 30000", "p2 30000", "p3 30000"]);
    for (const at of [0, 10, 20, 30]) expect(await acceptedAt(store, at * SECOND)).toBe(3);
  });

  test("a process that is late adds to the row of its step", async () => {
    const { store, write } = await openFigures();
    await write("late", 0);
    for (const at of [0, 10, 20, 30]) await write("p1", at * SECOND);
    await write("late", 30 * SECOND);
    expect(await valuesOf("SELECT process AS value FROM SCHEMA.inbox_figure WHERE step = 1800000000000")).toEqual([""]);
    expect(await acceptedAt(store, 0)).toBe(2);
  });

  test("what processes wrote that have gone is added up, and their rows go", async () => {
    const { store, write } = await openFigures();
    for (const process of ["gone 1", "gone 2"]) await write(process, 0);
    for (const at of [0, 20 * MINUTE]) await write("p1", at);
    const ofShortSteps =
      "SELECT process AS value FROM SCHEMA.inbox_open_figure WHERE resolution = 10000 ORDER BY process";
    expect(await valuesOf(ofShortSteps)).toEqual(["", "p1"]);
    expect(await acceptedAt(store, 0)).toBe(3);
    await write("p1", 40 * MINUTE);
    expect(await valuesOf("SELECT DISTINCT process AS value FROM SCHEMA.inbox_open_figure ORDER BY 1")).toEqual([
      "",
      "p1",
    ]);
    expect((await store.readFigures({ range: "7d", now: STEP })).answers.accepted?.at(-1)).toBe(4);
  });

  test("a new row takes the place of one that is too old, and of more of those only some are left", async () => {
    const { store, write } = await openFigures();
    const text = toStoredFigures(accepted(1));
    await database.pool.query(
      `INSERT INTO ${schema}.inbox_figure SELECT 10000, $1::bigint + 10000 * n, '', $2 FROM generate_series(1, 20) AS n`,
      [STEP - DAY, text],
    );
    const countOfOld = `SELECT count(*)::int AS value FROM SCHEMA.inbox_figure WHERE step < ${STEP}`;
    for (const at of [0, 10]) await write("p1", at * SECOND);
    expect(await valuesOf(countOfOld)).toEqual([20]);
    await write("p1", 20 * SECOND);
    expect(await valuesOf(countOfOld)).toEqual([5]);
    await write("p1", 30 * SECOND);
    expect(await valuesOf(countOfOld)).toEqual([4]);
    expect(await acceptedAt(store, 10 * SECOND)).toBe(1);
  });

  test("a process that stands still while it adds up does not stop the figures of the others", async () => {
    const { store, write } = await openFigures();
    const { pool, locked, arm, goOn } = poolThatStops(database.url);
    const other = createPostgresStore({ pool, schema });
    onTestFinished(() => other.close());
    await other.open(context);
    const writeOther = (at: number): Promise<void> =>
      other.writeFigures({ process: "stands", now: STEP + at, figures: accepted(1), status: undefined });
    for (const at of [0, 10]) await write("p1", at * SECOND);
    await writeOther(0);
    arm();
    const standing = writeOther(10 * SECOND).catch((error: unknown) => error);
    await locked;
    await write("p1", 20 * SECOND);
    expect(await acceptedAt(store, 0)).toBe(2);
    expect(await acceptedAt(store, 10 * SECOND)).toBe(1);
    goOn();
    // Its transaction has ended, and what it wrote goes with its next write.
    expect(await standing).toBeInstanceOf(Error);
  });
});
