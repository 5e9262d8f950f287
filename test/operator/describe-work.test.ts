import { expect, test } from "vitest";
import { describeAttempts, describeRetry, describeWork } from "#pigeonhole/operator/describe-work.js";

test.each<[number, number | null, string]>([
  [0, 14, "0 of 14 attempts"],
  [1, 1, "1 of 1 attempt"],
  [3, 14, "3 of 14 attempts"],
  [14, 14, "14 of 14 attempts"],
  // Runs that a stop ended are not counted against the policy.
  [16, 14, "16 attempts"],
  [1, null, "1 attempt"],
  [2, null, "2 attempts"],
])("%i attempts under a policy of %s are shown as %j", (attempts, maxAttempts, expected) => {
  expect(describeAttempts({ attempts, maxAttempts })).toBe(expected);
});

test("a retry is described with its attempts, and with the next time where that is known", () => {
  const work = { attempts: 3, maxAttempts: 14 };
  expect(describeRetry(work, "14:03")).toBe("retrying, 3 of 14 attempts, next at 14:03");
  expect(describeRetry(work)).toBe("retrying, 3 of 14 attempts");
});

test.each([
  [{ state: "retrying", error: "Error: no answer" }, "Handler crm is retrying, 3 of 14 attempts: Error: no answer"],
  [
    { state: "dead", reason: "do_not_retry", error: "Error: no answer" },
    "Handler crm is dead: do_not_retry: Error: no answer",
  ],
  [{ state: "pending", attempts: 0 }, "Handler crm is pending."],
  [{ state: "running", attempts: 1 }, "Handler crm is running."],
  [{ state: "discarded" }, "Handler crm is discarded."],
  [{ state: "parked", handler: "", reason: "bad_data" }, "The event is parked: bad_data"],
  [
    { state: "parked", handler: "", reason: "bad_data", retryRequestedAt: "2026-01-31T00:00:00.000Z" },
    "The event is parked, and waits to be read again: bad_data",
  ],
])("work %j is described as %j", (work, expected) => {
  expect(describeWork({ handler: "crm", attempts: 3, maxAttempts: 14, ...work })).toBe(expected);
});
