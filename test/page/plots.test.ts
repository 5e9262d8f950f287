import { expect, test } from "vitest";
import { loneIndexes } from "../../src/page/dashboard/plots/plot-series.js";

test("a value between unknown ones is a point of its own", () => {
  expect(loneIndexes([3, null, 4, 5, null, 6])).toEqual([0, 5]);
  expect(loneIndexes([null, 1, undefined])).toEqual([1]);
  expect(loneIndexes([])).toEqual([]);
});
