import { expect, onTestFinished, test } from "vitest";
import { createPostgresStore } from "pigeonhole/postgres";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { systemClock } from "#pigeonhole/base/clock.js";
import { FIGURE_RANGES } from "#pigeonhole/store/figures.js";
import { busyFigures } from "../busy-figures.js";
import { describeOnPostgres, startPostgres } from "../../support/postgres-server.js";

const [PROCESSES, HANDLERS] = [16, 30];
const [SECOND, MINUTE] = [1_000, 60_000];
const DAY = 24 * 60 * MINUTE;
/** Begin of a step of every length. */
const STEP = 1_800_000_000_000;
const MEGABYTE = 1_000_000;
/** Writes that meet: each process has its own moment in the 10 s. */
const AT_ONCE = 4;
const TABLES = ["inbox_figure", "inbox_open_figure"];
const figures = busyFigures(HANDLERS);

describeOnPostgres((database) => {
  test("a week of 16 processes with 30 handlers takes at most 1 MB on disk with the indexes, before a vacuum", async () => {
    const { pool, schema } = database;
    const store = createPostgresStore({ pool, schema });
    onTestFinished(() => store.close());
    await store.open({ logger: silentLogger, clock: systemClock, runsHandlers: false, onAlarm: () => undefined });
    for (const table of TABLES) await pool.query(`ALTER TABLE ${schema}.${table} SET (autovacuum_enabled = off)`);
    const writeAt = (at: number, number = 0) =>
      store.writeFigures({
        process: `${"0".repeat(34)}${number.toString().padStart(2, "0")}`,
        now: STEP + at,
        figures,
        status: undefined,
      });
    // Of steps that have ended one row is left, of however many processes.
    for (let at = 0; at < 6 * DAY; at += 30 * MINUTE) await writeAt(at);
    for (let at = 6 * DAY; at < 7 * DAY; at += 5 * MINUTE) await writeAt(at);
    const end = 7 * DAY + 70 * MINUTE;
    for (let at = 7 * DAY; at < end - 2 * MINUTE; at += 10 * SECOND) await writeAt(at);
    for (let at = end - 2 * MINUTE; at < end; at += 10 * SECOND)
      for (let first = 0; first < PROCESSES; first += AT_ONCE)
        await Promise.all(Array.from({ length: AT_ONCE }, (_, place) => writeAt(at, first + place)));
    const sql = `
      SELECT count(*)::int AS rows, count(DISTINCT (resolution, step))::int AS steps, (
        SELECT sum(pg_total_relation_size(oid))::int FROM pg_class
        WHERE relname = ANY ($1) AND relnamespace = '${schema}'::regnamespace) AS bytes
      FROM (SELECT resolution, step FROM ${schema}.inbox_figure UNION ALL SELECT resolution, step FROM ${schema}.inbox_open_figure)`;
    const found = (await pool.query<{ rows: number; steps: number; bytes: number }>(`${sql} AS f`, [TABLES])).rows[0];
    const kept = Object.values(FIGURE_RANGES).reduce((sum, { keptMs, stepMs }) => sum + keptMs / stepMs, 0);
    expect(found?.steps).toBe(kept);
    // Each process has a row of its own only of the step that is open.
    expect(found?.rows).toBeLessThanOrEqual(kept + 3 * PROCESSES);
    expect(found?.bytes).toBeGreaterThan(300_000);
    expect(found?.bytes).toBeLessThan(MEGABYTE);
  }, 120_000);
}, startPostgres);
