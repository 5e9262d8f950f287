import { expect, test } from "vitest";
import { LONG_STEPS, SHORT_STEPS } from "#pigeonhole/store/figures.js";
import { addFigures } from "#pigeonhole/store/queries/figures.js";
import { migrate, openDatabase } from "#pigeonhole/store/sqlite/open-database.js";
import { runInFile } from "#pigeonhole/store/sqlite/run-in-file.js";
import { busyFigures } from "./busy-figures.js";
import { MINUTE } from "./conformance/new-event.js";

const SECOND = 1_000;
const DAY = 24 * 60 * MINUTE;
/** Begin of a step of every length. */
const STEP = 1_800_000_000_000;
const MEGABYTE = 1_000_000;

test("figures of 8 days with 30 busy handlers take at most 10 MB on disk, in one row for each step", () => {
  const db = openDatabase(":memory:");
  migrate(db, ":memory:");
  const figures = busyFigures(30);
  const end = 8 * DAY + 70 * MINUTE;
  const writeAt = (at: number): void =>
    runInFile(db, addFigures({ process: "p", now: STEP + at, figures, status: undefined }));
  db.transaction(() => {
    for (let at = 0; at < 8 * DAY; at += 10 * MINUTE) writeAt(at);
    for (let at = 8 * DAY; at < end; at += 10 * SECOND) writeAt(at);
  })();
  const bytes = db.prepare<[], number>("SELECT sum(pgsize) FROM dbstat WHERE name = 'inbox_figure'").pluck().get();
  expect(bytes).toBeGreaterThan(5 * MEGABYTE);
  expect(bytes).toBeLessThan(10 * MEGABYTE);
  const rows = db
    .prepare<[], [number, number]>("SELECT resolution, count(*) FROM inbox_figure GROUP BY resolution ORDER BY 1")
    .raw()
    .all();
  expect(rows).toEqual([SHORT_STEPS, LONG_STEPS].map(({ stepMs, keptMs }) => [stepMs, keptMs / stepMs + 1]));
});
