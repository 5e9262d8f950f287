import { describe, expect, test } from "vitest";
import { FIGURE_RANGES } from "#pigeonhole/store/figures.js";
import { migrate, openDatabase } from "#pigeonhole/store/sqlite/open-database.js";
import { prepareWriteFigures } from "#pigeonhole/store/sqlite/operations/figures.js";
import { busyFigures } from "./busy-figures.js";
import { MINUTE } from "./conformance/fixture.js";

const SECOND = 1_000;
const DAY = 24 * 60 * MINUTE;
/** Begin of a step of every length. */
const STEP = 1_800_000_000_000;
const MEGABYTE = 1_000_000;

interface Load {
  /** In the last minutes. */
  processes: number;
  /** In the rest of the week, of which one row a step is left of however many. */
  before: number;
  handlers: number;
}

/** A week of several processes that are replaced every few hours, with a write in each step that is kept. */
function writeWeek({ processes, before, handlers }: Load) {
  const db = openDatabase(":memory:");
  migrate(db, ":memory:");
  const write = prepareWriteFigures(db);
  const figures = busyFigures(handlers);
  const end = 7 * DAY + 70 * MINUTE;
  const writeAt = (at: number): void => {
    for (let number = 0; number < (at < end - 3 * MINUTE ? before : processes); number += 1) {
      const process = `${"0".repeat(32)}-${number}-${Math.floor(at / (5 * 60 * MINUTE))}`;
      write({ process, now: STEP + at + number, figures, status: undefined });
    }
  };
  db.transaction(() => {
    for (let at = 0; at < 6 * DAY; at += 30 * MINUTE) writeAt(at);
    for (let at = 6 * DAY; at < 7 * DAY; at += 5 * MINUTE) writeAt(at);
    for (let at = 7 * DAY; at < end; at += 10 * SECOND) writeAt(at);
  })();
  return db;
}

describe("the figures of a week in a file", () => {
  test.each([
    { processes: 1, before: 1, handlers: 5 },
    { processes: 3, before: 3, handlers: 15 },
    { processes: 16, before: 1, handlers: 30 },
  ])("take at most 1 MB on disk, with $processes processes and $handlers handlers", (load) => {
    const db = writeWeek(load);
    const bytes = db.prepare<[], number>("SELECT sum(pgsize) FROM dbstat WHERE name = 'inbox_figure'").pluck().get();
    expect(bytes).toBeGreaterThan(300_000);
    expect(bytes).toBeLessThan(MEGABYTE);
    const rows = db
      .prepare<[], { resolution: number; steps: number; rows: number }>(
        "SELECT resolution, count(DISTINCT step) AS steps, count(*) AS rows FROM inbox_figure GROUP BY resolution",
      )
      .all();
    for (const { stepMs, keptMs } of Object.values(FIGURE_RANGES)) {
      const found = rows.find(({ resolution }) => resolution === stepMs);
      expect(found?.steps).toBe(keptMs / stepMs);
      // Only of steps of the last minutes there is more than one row.
      expect(found?.rows).toBeLessThan(keptMs / stepMs + 15 * load.processes);
    }
  });
});
