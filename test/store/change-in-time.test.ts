import { expect, test } from "vitest";
import { changeInTime } from "#pigeonhole/store/query-runner.js";

const ROWS = [1, 2, 3, 4, 5, 6, 7, 8];

test.each([
  ["all rows where they are quick", 0.1, 8],
  ["no further row after 3 ms", 1, 3],
  ["one row, however long it takes", 1_000, 1],
])("a transaction beside a receiver changes %s", (_, ms, count) => {
  let now = 0;
  const pace = { rows: 25, together: 1, heldMs: 3, pauseMs: 0, elapsed: () => now };
  // oxlint-disable-next-line require-yield -- a change may have no statement
  const changing = changeInTime(pace, ROWS, function* ([row = 0]) {
    now += ms;
    return -row;
  });
  expect(changing.next()).toEqual({
    done: true,
    value: { changes: ROWS.slice(0, count).map((row) => -row), looked: count },
  });
});
