import { expect, test } from "vitest";
import { changeInTime } from "#pigeonhole/store/sqlite/pages-beside.js";

const ROWS = [1, 2, 3, 4, 5, 6, 7, 8];

/** Changes rows of which each takes so many milliseconds; returns how many were changed. */
function changedWhenEachTakes(ms: number): number {
  let now = 0;
  const changes = changeInTime(
    ROWS,
    (row) => {
      now += ms;
      return -row;
    },
    () => now,
  );
  expect(changes).toEqual(ROWS.slice(0, changes.length).map((row) => -row));
  return changes.length;
}

test.each([
  ["all rows where they are quick", 0.1, 8],
  ["no further row after 3 ms", 1, 3],
  ["one row, however long it takes", 1_000, 1],
])("a transaction beside a receiver changes %s", (_, ms, count) => {
  expect(changedWhenEachTakes(ms)).toBe(count);
});
