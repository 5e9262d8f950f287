import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { isPigeonholeError } from "#pigeonhole/base/error.js";
import { createManualClock as fakeClock } from "#pigeonhole/base/manual-clock.js";

const START = Date.UTC(2026, 5, 1);

describe("a fake clock", () => {
  test("a fake clock stands still on its own", async () => {
    const clock = fakeClock(START);
    let fired = false;
    clock.setTimer(() => (fired = true), 0);
    await setImmediate();
    expect([clock.now(), fired, clock.pendingTimers]).toEqual([START, false, 1]);
  });

  test("a fake clock starts with the year 2026 by default", () => {
    expect(new Date(fakeClock().now()).toISOString()).toBe("2026-01-01T00:00:00.000Z");
  });

  test("a fake clock fires timers in order of time and then of setting, each at its own time", async () => {
    const clock = fakeClock(START);
    const fired: string[] = [];
    const set = (name: string, ms: number): void => {
      clock.setTimer(() => fired.push(`${name}@${clock.now() - START}`), ms);
    };
    set("late", 30);
    set("first of two", 20);
    set("second of two", 20);
    set("early", 10);
    set("now", 0);
    set("past", -5);
    set("too late", 31);
    await clock.advance(30);
    expect(fired).toEqual(["now@0", "past@0", "early@10", "first of two@20", "second of two@20", "late@30"]);
    expect([clock.now() - START, clock.pendingTimers]).toEqual([30, 1]);
    await clock.advance(0);
    expect(fired).toHaveLength(6);
    await clock.advance(1);
    expect(fired.at(-1)).toBe("too late@31");
  });

  test("a fake clock fires timers that callbacks and promises set on the way", async () => {
    const clock = fakeClock(START);
    const sleep = (ms: number): Promise<void> => new Promise((resolve) => void clock.setTimer(resolve, ms));
    const woke: number[] = [];
    const run = async (): Promise<void> => {
      for (let round = 0; round < 3; round += 1) {
        await sleep(10);
        await setImmediate();
        woke.push(clock.now() - START);
      }
    };
    const done = run();
    await clock.advance(25);
    expect(woke).toEqual([10, 20]);
    await clock.advance(5);
    expect(woke).toEqual([10, 20, 30]);
    await done;
  });

  test("a fake clock lets waiting code set its timers before time moves", async () => {
    const clock = fakeClock(START);
    let firedAt = 0;
    void setImmediate().then(() => clock.setTimer(() => (firedAt = clock.now()), 10));
    await clock.advance(10);
    expect(firedAt).toBe(START + 10);
  });

  test("a fake clock does not fire a cancelled timer, even one that another cancels at the same moment", async () => {
    const clock = fakeClock(START);
    const fired: string[] = [];
    clock.setTimer(() => {
      fired.push("a");
      b.cancel();
    }, 10);
    const b = clock.setTimer(() => fired.push("b"), 10);
    const c = clock.setTimer(() => fired.push("c"), 5);
    c.cancel();
    c.cancel();
    await clock.advance(20);
    expect([fired, clock.pendingTimers]).toEqual([["a"], 0]);
  });

  test.each([
    ["forward", START + 86_400_000],
    ["back", START - 86_400_000],
  ])("a fake clock that jumps %s fires no timer, and the timers keep their remaining time", async (_, target) => {
    const clock = fakeClock(START);
    const firedAt: number[] = [];
    clock.setTimer(() => firedAt.push(clock.now()), 100);
    await clock.advance(40);
    clock.set(target);
    expect(clock.now()).toBe(target);
    await clock.advance(59);
    expect(firedAt).toEqual([]);
    await clock.advance(1);
    expect(firedAt).toEqual([target + 60]);
  });

  test.each([-1, Number.NaN])("a fake clock refuses to advance by %d", async (ms) => {
    const clock = fakeClock(START);
    await expect(clock.advance(ms)).rejects.toSatisfy((error) => isPigeonholeError(error, "invalid_argument"));
    expect(clock.now()).toBe(START);
  });
});
