import { expect, test } from "vitest";
import { isoTime } from "#pigeonhole/base/iso-time.js";

test.each([
  [0, "1970-01-01T00:00:00.000Z"],
  [8.64e15, "+275760-09-13T00:00:00.000Z"],
  // Work that waits as long as RetryAfter takes, from now on.
  [8.64e15 + 1_760_000_000_000, "+275760-09-13T00:00:00.000Z"],
  [null, null],
  [undefined, null],
])("the moment %j is %j", (ms, text) => {
  expect(isoTime(ms)).toBe(text);
});
