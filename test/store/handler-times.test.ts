import { describe, expect, test } from "vitest";
import { RUN_TIME_BOUNDS } from "#pigeonhole/base/run-time-bounds.js";
import { type EndedRuns, toHandlerTimes } from "#pigeonhole/store/handler-times.js";

/** So many runs each, by the lower bound of what they took. */
const done = (runs: Record<number, number>): EndedRuns[] =>
  Object.entries(runs).map(([fromMs, count]) => ({
    handler: "h",
    outcome: "done",
    fromMs: Number(fromMs),
    runs: count,
  }));

describe("times of a handler from its counted runs", () => {
  test.each<[what: string, runs: Record<number, number>, medianMs: number | undefined, p95Ms: number | undefined]>([
    ["one run", { 5: 1 }, 10, 10],
    ["runs below a millisecond", { 0: 7 }, 1, 1],
    ["a half below and a half above", { 5: 5, 50: 5 }, 10, 100],
    ["one more above than below", { 5: 5, 50: 6 }, 100, 100],
    ["19 of 20 below", { 1: 19, 1_000: 1 }, 2, 2],
    ["18 of 20 below", { 1: 18, 1_000: 2 }, 2, 2_000],
    ["some beyond the last bound", { 10: 8, 300_000: 2 }, 20, undefined],
    ["most beyond the last bound", { 10: 2, 300_000: 8 }, undefined, undefined],
  ])("median and p95 of %s are the ends of their buckets", (_, runs, medianMs, p95Ms) => {
    expect(toHandlerTimes(done(runs))).toMatchObject([{ medianMs, p95Ms }]);
  });

  test("every bucket between the first and the last with a run is there, and begins where the one before ends", () => {
    const [times] = toHandlerTimes(done({ 0: 1, 300_000: 1 }));
    const { buckets = [] } = times ?? {};
    expect(buckets.map(({ fromMs }) => fromMs)).toEqual(RUN_TIME_BOUNDS);
    expect(buckets.map(({ toMs }) => toMs)).toEqual([...RUN_TIME_BOUNDS.slice(1), undefined]);
    expect(RUN_TIME_BOUNDS).toEqual(RUN_TIME_BOUNDS.toSorted((a, b) => a - b));
  });

  test("a count with a bound of another version is in the bucket that it falls in", () => {
    expect(toHandlerTimes(done({ 30: 2, 600_000: 1 }))).toMatchObject([
      {
        runs: 3,
        medianMs: 50,
        buckets: expect.arrayContaining([{ fromMs: 20, toMs: 50, done: 2, failed: 0 }]) as object,
      },
    ]);
  });
});
