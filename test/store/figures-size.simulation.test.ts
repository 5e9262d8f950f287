import { expect, test } from "vitest";
import { DAY } from "#pigeonhole/base/duration.js";
import { LONG_STEPS, SHORT_STEPS } from "#pigeonhole/store/figures.js";
import { addFigures } from "#pigeonhole/store/queries/figures.js";
import type { TimeCounts } from "#pigeonhole/store/time-buckets.js";
import { migrate, openDatabase } from "#pigeonhole/store/sqlite/open-database.js";
import { runInFile } from "#pigeonhole/store/sqlite/run-in-file.js";

/** Counts in twenty buckets, about a decade of times. */
const times = (most: number): TimeCounts =>
  Array.from({ length: 20 }, (_, place) => [20 + place, Math.round(most / (1 + (place - 8) ** 2))]).flat();

test.each([
  [3, 3],
  [30, 8],
])("figures of 8 days with %i busy handlers take %i MB on disk, as docs/data.md says", (handlers, megabytes) => {
  const db = openDatabase(":memory:");
  migrate(db, ":memory:");
  const runs = { done: times(300), failed: [30, 2] };
  const figures = {
    answers: { accepted: 1_234, duplicate: 123, parked: 12, unsigned: 3, overloaded: 456 },
    answerTimes: times(400),
    gauges: {
      backlog: { depth: 1_234_567, oldestAgeMs: 7 * DAY },
      outbox: { depth: 123_456, oldestAgeMs: DAY },
      disk: { usedBytes: 123_456_789_012, freeBytes: 1_234_567_890_123 },
    },
    runs: new Map(Array.from({ length: handlers }, (_, place) => [`handler-of-something-${place}`, runs])),
  };
  const end = 1_800_000_000_000;
  for (const { stepMs, keptMs } of [LONG_STEPS, SHORT_STEPS])
    for (let now = end - keptMs; now <= end; now += stepMs)
      runInFile(db, addFigures({ process: "p", now, figures, status: undefined }));
  const bytes = db.prepare("SELECT sum(pgsize) FROM dbstat WHERE name = 'inbox_figure'").pluck().get();
  expect(Math.round(Number(bytes) / 1_000_000)).toBe(megabytes);
});
