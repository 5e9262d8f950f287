import { expect, test } from "vitest";
import { readRetryAfter } from "#pigeonhole/base/retry-wait.js";

const NOW = Date.UTC(2026, 5, 1);

test.each([
  [null, undefined],
  ["", undefined],
  ["0", 0],
  ["1", 1_000],
  [" 90 ", 90_000],
  ["999999999", 999_999_999_000],
  ["9999999999", undefined],
  ["1.5", undefined],
  ["-1", undefined],
  ["1e3", undefined],
  ["soon", undefined],
  ["Mon, 01 Jun 2026 00:00:00 GMT", 0],
  ["Mon, 01 Jun 2026 00:00:50 GMT", 50_000],
  ["Monday, 01-Jun-26 00:00:50 GMT", 50_000],
  ["Sun, 31 May 2026 23:59:59 GMT", 0],
  ["Mon, 99 Jun 2026 00:00:50 GMT", undefined],
  ["2026-06-01T00:00:50Z", undefined],
])("the Retry-After header %s means %s ms", (value, expected) => {
  expect(readRetryAfter(value, NOW)).toBe(expected);
});
