import { expect, test } from "vitest";
import { type Backoff, backoffDelay } from "#pigeonhole/base/retry-wait.js";

const plain: Backoff = { initialMs: 100, factor: 2, maxMs: 60_000, jitter: 0 };
const middle = (): number => 0.5;

test.each([
  [1, 100],
  [2, 200],
  [5, 1_600],
  [11, 60_000],
  [1_025, 60_000],
  [Number.MAX_SAFE_INTEGER, 60_000],
])("the wait after failure %i is %i ms", (failures, ms) => {
  expect(backoffDelay(plain, failures, middle)).toBe(ms);
});

test.each([1, 2, 1_024, 1_025, 10_000, Number.MAX_SAFE_INTEGER])(
  "the wait after failure %i stays 0 if the first wait is 0, even when the power overflows",
  (failures) => {
    expect(backoffDelay({ ...plain, initialMs: 0 }, failures, middle)).toBe(0);
  },
);

test.each([
  [0, 50],
  [0.5, 100],
  [1, 150],
])("the jitter at chance %d makes the wait %i ms", (chance, ms) => {
  expect(backoffDelay({ ...plain, jitter: 0.5 }, 1, () => chance)).toBe(ms);
});
