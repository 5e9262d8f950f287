import { expect, test } from "vitest";
import { HOUR, MINUTE, SECOND } from "#pigeonhole/base/duration.js";
import { AGE_STEPS, formatAgeTick, highestStep, loneIndexes } from "../../src/page/dashboard/plots/plot-series.js";

test.each([
  [0, 30 * SECOND, "0 s"],
  [90 * SECOND, 30 * SECOND, "90 s"],
  [4 * MINUTE, 2 * MINUTE, "4 min"],
  [36 * HOUR, 12 * HOUR, "36 h"],
])("a tick at %i ms, %i ms from the next one, is %s", (at, step, text) => {
  expect(formatAgeTick(at, step)).toBe(text);
});

test("no two ticks of an axis of ages have the same text", () => {
  for (const step of AGE_STEPS) {
    const texts = [0, 1, 2, 3, 4].map((number) => formatAgeTick(number * step, step));
    expect(new Set(texts).size, String(step)).toBe(5);
  }
});

test("the distances of ticks rise", () => {
  expect(AGE_STEPS).toEqual(AGE_STEPS.toSorted((one, other) => one - other));
});

test("a value between unknown ones is a point of its own", () => {
  expect(loneIndexes([3, null, 4, 5, null, 6])).toEqual([0, 5]);
  expect(loneIndexes([null, 1, undefined])).toEqual([1]);
  expect(loneIndexes([])).toEqual([]);
});

test("the legend of times names the highest one that is drawn", () => {
  expect(highestStep([null, 3, 110, null, 12])).toBe(2);
  expect(highestStep([null, null])).toBe(-1);
});
