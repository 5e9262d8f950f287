import { expect, test } from "vitest";
import { toFailedRuns } from "#pigeonhole/store/failed-run-row.js";

test("a failed run that an older version kept has no time", () => {
  expect(toFailedRuns([])).toBeUndefined();
  expect(
    toFailedRuns([
      { attempt: 1, stack: "Error: a", at: null },
      { attempt: 2, stack: "Error: b", at: 7 },
    ]),
  ).toEqual({
    first: { attempt: 1, stack: "Error: a", at: undefined },
    last: { attempt: 2, stack: "Error: b", at: 7 },
  });
});
