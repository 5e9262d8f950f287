import { expect, test } from "vitest";
import { LATE, inTime } from "#pigeonhole/base/wait.js";
import { fakeClock } from "#pigeonhole/testing/fake-clock.js";

test("what settles in time comes through, and no timer is left", async () => {
  const clock = fakeClock();
  expect(await inTime(Promise.resolve(5), clock, 10)).toBe(5);
  await expect(inTime(Promise.reject(new Error("no")), clock, 10)).rejects.toThrow("no");
  expect(clock.pendingTimers).toBe(0);
});

test("what does not is LATE at that time, not before, and may still reject", async () => {
  const clock = fakeClock();
  let reject: (error: Error) => void = () => undefined;
  let seen: unknown;
  const late = new Promise<never>((_, no) => (reject = no));
  void inTime(late, clock, 10).then((value) => (seen = value));
  await clock.advance(9);
  expect(seen).toBeUndefined();
  await clock.advance(1);
  expect(seen).toBe(LATE);
  reject(new Error("a rejection that nobody handles would end the process"));
  await clock.advance(0);
});
