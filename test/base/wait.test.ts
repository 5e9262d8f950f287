import { expect, test } from "vitest";
import { LATE, inTime } from "#pigeonhole/base/wait.js";
import { createManualClock as fakeClock } from "#pigeonhole/base/manual-clock.js";

test("a promise that settles in time passes its value on, and leaves no timer", async () => {
  const clock = fakeClock();
  expect(await inTime(Promise.resolve(5), clock, 10)).toBe(5);
  await expect(inTime(Promise.reject(new Error("no")), clock, 10)).rejects.toThrow("no");
  expect(clock.pendingTimers).toBe(0);
});

test("a promise that does not settle in time gives LATE at that time, not before, and may still reject", async () => {
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
