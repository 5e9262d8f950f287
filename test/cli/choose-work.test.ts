import { expect, test } from "vitest";
import { compareWithCount } from "#pigeonhole/cli/inbox/choose-work.js";

test.each([
  [{ total: 3, done: 3 }, 0, undefined],
  // What was new after the count.
  [{ total: 3, done: 4 }, 0, undefined],
  [{ total: 1, done: 0 }, 1, "0 of 1 piece of work: 1 had been changed before this command came to it"],
  [
    { total: 2, done: 0, skipped: 2 },
    0,
    "0 of 2 pieces of work: 2 cannot be changed, as the body is gone or the handler has another body of the event",
  ],
])("of %j, %d had been changed before", (counts, changedBefore, why) => {
  expect(compareWithCount(counts)).toEqual({ fields: { chosen: counts.total, changedBefore }, why });
});
