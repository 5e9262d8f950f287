import { describe, expect, test } from "vitest";
import { addToRow } from "#pigeonhole/store/figure-rows.js";
import { toHandlerTimes } from "#pigeonhole/store/handler-times.js";
import { figuresOf } from "../support/ended-runs.js";

/** The times of so many runs each, by what they took. */
const timesOf = (runs: Record<number, number>) => {
  const ended = Object.entries(runs).map(
    ([fromMs, count]) => ({ handler: "h", outcome: "done", fromMs: Number(fromMs), runs: count }) as const,
  );
  return toHandlerTimes([{ figures: addToRow(undefined, figuresOf(ended)) }], {});
};

describe("times of a handler from its counted runs", () => {
  test.each<[what: string, runs: Record<number, number>, medianMs: number | null, p95Ms: number | null]>([
    ["one run", { 5: 1 }, 5.5, 5.5],
    ["runs below a millisecond", { 0: 7 }, 1, 1],
    ["a half below and a half above", { 5: 5, 50: 5 }, 5.5, 55],
    ["one more above than below", { 5: 5, 50: 6 }, 55, 55],
    ["19 of 20 below", { 1: 19, 1_000: 1 }, 1.1, 1.1],
    ["18 of 20 below", { 1: 18, 1_000: 2 }, 1.1, 1_100],
    ["some beyond the last bound", { 10: 8, 300_000: 2 }, 11, null],
    ["most beyond the last bound", { 10: 2, 300_000: 8 }, null, null],
  ])("median and p95 of %s are the ends of their buckets", (_, runs, medianMs, p95Ms) => {
    expect(timesOf(runs)).toMatchObject([{ medianMs, p95Ms }]);
  });

  test("every bucket between the first and the last with a run is there, and begins where the one before ends", () => {
    const { buckets } = timesOf({ 0: 1, 30: 2, 300_000: 1 })[0] ?? expect.unreachable();
    expect(buckets.map(({ toMs }) => toMs).slice(0, -1)).toEqual(buckets.map(({ fromMs }) => fromMs).slice(1));
    expect(buckets.filter(({ done }) => done > 0)).toEqual([
      { fromMs: 0, toMs: 1, done: 1, failed: 0 },
      { fromMs: 20, toMs: 50, done: 2, failed: 0 },
      { fromMs: 300_000, toMs: null, done: 1, failed: 0 },
    ]);
  });
});
