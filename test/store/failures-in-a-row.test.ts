import { expect, test } from "vitest";
import { failuresInARow } from "#pigeonhole/store/process-state.js";

interface Answered {
  failed?: number[];
  /** Failures before those whose times are kept. */
  before?: number;
  success?: number;
  accepted?: number;
}

const answered = ({ failed = [], before = 0, success, accepted }: Answered) => ({
  failuresInARow: failed.length + before,
  failureTimes: failed,
  lastSuccessAt: success,
  lastAcceptedAt: accepted,
});

const count = (...processes: Answered[]): number => failuresInARow(processes.map(answered));

test("deliveries that alternate between processes are counted together", () => {
  expect(count({ failed: [1, 3, 5] }, { failed: [2, 4] })).toBe(5);
  expect(count()).toBe(0);
});

test("failures before the success of another process do not count, of its own row all do", () => {
  expect(count({ failed: [1, 3, 5, 7] }, { success: 4 })).toBe(2);
  expect(count({ failed: [1, 3] }, { success: 4 })).toBe(0);
  expect(count({ failed: [4, 5], success: 4 }, { success: 1 })).toBe(2);
});

test("an accepted delivery that was found in the store is a success", () => {
  expect(count({ failed: [1, 3] }, { accepted: 2 })).toBe(1);
});

test("failures whose times are not kept any more are older than the others", () => {
  expect(count({ failed: [10, 11], before: 98 }, { success: 5 })).toBe(100);
  expect(count({ failed: [10, 11], before: 98 }, { success: 10 })).toBe(1);
});
