import { fakeClock } from "pigeonhole/testing";
import { expect, test } from "vitest";
import { sleep } from "#pigeonhole/base/wait.js";
import { waitingClock } from "#pigeonhole/base/clock.js";

test("sleep ends when its time is over, and leaves no listener on the signal", async () => {
  const clock = fakeClock();
  const { signal } = new AbortController();
  let awake = false;
  const done = sleep(clock, 1_000, signal).then(() => (awake = true));
  await clock.advance(999);
  expect(awake).toBe(false);
  await clock.advance(1);
  await done;
  expect(clock.pendingTimers).toBe(0);
});

test("sleep rejects with the reason of its signal, before and during the wait", async () => {
  const clock = fakeClock();
  const controller = new AbortController();
  const asleep = sleep(clock, 1_000, controller.signal);
  controller.abort("up");
  await expect(asleep).rejects.toBe("up");
  await expect(sleep(clock, 0, controller.signal)).rejects.toBe("up");
  expect(clock.pendingTimers).toBe(0);
});

test("the default waiting clock is that of the machine, and its timers can be cancelled", async () => {
  expect(Math.abs(waitingClock.now() - Date.now())).toBeLessThan(1_000);
  const timer = waitingClock.setTimer(() => expect.unreachable(), 5);
  timer.cancel();
  await sleep(waitingClock, 20);
});
