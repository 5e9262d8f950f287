import { expect, test } from "vitest";
import { errorKeyOf } from "#pigeonhole/store/error-kind.js";
import { COUNTED_EVENTS } from "#pigeonhole/store/error-groups.js";
import { type FailureExample, toErrorGroup } from "#pigeonhole/store/queries/error-groups.js";

const HOUR = 3_600_000;
const example: FailureExample = { id: "evt_1", state: "dead", reason: "attempts_spent", error: "Error: no order 7" };
const counted = { state: "dead", step: 10, events: 2, failures: 6, firstAt: 10 * HOUR, lastAt: 10 * HOUR + 5 } as const;
const groupOf = (groupKey: string, examples: FailureExample[], events = 2) =>
  toErrorGroup(
    { groupHandler: "h", groupType: "email.sent", groupKey },
    { counts: [{ ...counted, events }], examples, stepMs: HOUR },
  );
const key = errorKeyOf({ isParked: false, error: example.error });

test("an error that a stop has replaced is no example of its group", () => {
  const stopped = { ...example, id: "evt_2", error: "PigeonholeError: The receiver stopped." };
  expect(groupOf(key, [stopped, example])).toMatchObject({ message: "no order …", example: { id: "evt_1" } });
});

test("a group with more events than are counted says so, and one without any is none", () => {
  expect(groupOf(key, [example])).toMatchObject({
    isCapped: false,
    steps: [{ at: new Date(10 * HOUR).toISOString(), events: 2 }],
  });
  expect(groupOf(key, [example], COUNTED_EVENTS + 1)).toMatchObject({ isCapped: true });
  expect(groupOf(key, [])).toBeUndefined();
});

test("control characters of an error are escaped", () => {
  const hostile = { ...example, error: "Error: \u001b[31m red\u202e" };
  const { message } = groupOf(key, [hostile]) ?? expect.unreachable();
  expect(message).toBe(String.raw`\u001b[… red\u202e`);
});
