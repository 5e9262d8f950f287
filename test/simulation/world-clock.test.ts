import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { WorldClock } from "./world-clock.js";

describe("the clock of a world", () => {
  test("the clock of a world fires timers in order, each at its own time, including those set meanwhile", async () => {
    const clock = new WorldClock();
    const fired: [string, number][] = [];
    const fire = (name: string) => (): void => void fired.push([name, clock.elapsedMs]);
    clock.setTimer(fire("late"), 30);
    clock.setTimer(() => {
      fire("early")();
      clock.setTimer(fire("set meanwhile"), 5);
    }, 10);
    clock.setTimer(fire("cancelled"), 20).cancel();
    await clock.advance(29);
    expect(fired).toEqual([
      ["early", 10],
      ["set meanwhile", 15],
    ]);
    expect([clock.elapsedMs, clock.nextTimerInMs, clock.pendingTimers]).toEqual([29, 1, 1]);
  });

  test("the clock of a world stands still while something holds it, however many turns that takes", async () => {
    const clock = new WorldClock();
    let endedAt = -1;
    let next = -1;
    clock.setTimer(() => {
      void clock.hold(async () => {
        for (let left = 100; left > 0; left -= 1) await setImmediate();
        endedAt = clock.elapsedMs;
      });
    }, 10);
    clock.setTimer(() => void (next = endedAt), 11);
    await clock.advance(20);
    expect([endedAt, next]).toEqual([10, 10]);
  });

  test("the clock of a world ends a world after a number of turns, not after a time", async () => {
    const endless = new WorldClock(1_000);
    void endless.hold(() => new Promise(() => {}));
    await expect(endless.advance(1)).rejects.toThrow("still goes on after 1000 turns");
    const repeating = new WorldClock(1_000);
    const repeat = (): void => void repeating.setTimer(repeat, 0);
    repeat();
    await expect(repeating.advance(1)).rejects.toThrow("still goes on after 1000 turns");
  });
});
