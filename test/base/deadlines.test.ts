import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { type Deadline, Deadlines } from "#pigeonhole/base/deadlines.js";
import { createManualClock as fakeClock } from "#pigeonhole/base/manual-clock.js";
import { endOfTurn } from "../support/end-of-turn.js";

const LIMIT = 1_000;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as (options: { type: "minor" }) => void;
const collectYoung = (): void => collect({ type: "minor" });

function setUp() {
  const clock = fakeClock();
  const deadlines = new Deadlines(clock, LIMIT);
  const expired: string[] = [];
  const make = (name: string) => ({ expire: () => void expired.push(`${name} ${clock.elapsedMs}`) });
  return { clock, deadlines, expired, make };
}

describe("deadlines of one length", () => {
  test("one timer serves all deadlines of one length, and each expires after its own time, to the millisecond", async () => {
    const { clock, deadlines, expired, make } = setUp();
    for (const name of ["a", "b", "c"]) {
      deadlines.begin(make(name));
      deadlines.begin(make(`${name} again`));
      await clock.advance(0);
      expect(clock.pendingTimers).toBe(1);
      await clock.advance(300);
    }
    await clock.advance(99);
    expect(expired).toEqual([]);
    await clock.advance(1_000);
    expect(expired).toEqual(["a 1000", "a again 1000", "b 1300", "b again 1300", "c 1600", "c again 1600"]);
    expect(clock.pendingTimers).toBe(0);
  });

  test("a deadline that was ended does not expire, and leaves no timer behind", async () => {
    const { clock, deadlines, expired, make } = setUp();
    const first = deadlines.begin(make("first"));
    await clock.advance(500);
    const second = deadlines.begin(make("second"));
    deadlines.end(first);
    await clock.advance(999);
    expect(expired).toEqual([]);
    deadlines.end(second);
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(LIMIT);
    expect(expired).toEqual([]);
    deadlines.end(second);
  });

  test("an operation may have begun before its deadline is set, and says how long it has taken", async () => {
    const { clock, deadlines, expired, make } = setUp();
    await clock.advance(500);
    const deadline = deadlines.begin(make("begun at 200"), 200);
    deadlines.begin(make("begun at 500"));
    expect(deadlines.elapsedOf(deadline)).toBe(300);
    await clock.advance(699);
    expect([deadlines.elapsedOf(deadline), expired]).toEqual([999, []]);
    await clock.advance(301);
    expect(expired).toEqual(["begun at 200 1200", "begun at 500 1500"]);
  });

  test("a deadline that expires may end another one and begin a new one", async () => {
    const { clock, deadlines, expired, make } = setUp();
    deadlines.begin({
      expire() {
        expired.push("first");
        deadlines.end(second);
        deadlines.begin(make("third"));
      },
    });
    const second = deadlines.begin(make("second"));
    await clock.advance(LIMIT);
    expect(expired).toEqual(["first"]);
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(LIMIT);
    expect(expired).toEqual(["first", "third 2000"]);
  });

  test.each([-3_600_000, 3_600_000])("a jump of the wall clock by %i ms does not move the deadlines", async (jump) => {
    const { clock, deadlines, expired, make } = setUp();
    deadlines.begin(make("before"));
    await clock.advance(400);
    clock.set(clock.now() + jump);
    deadlines.begin(make("after"));
    await clock.advance(999);
    expect(expired).toEqual(["before 1000"]);
    await clock.advance(1);
    expect(expired).toEqual(["before 1000", "after 1400"]);
  });

  test("no timer is set for a deadline that ends in the turn in which it began", async () => {
    const { clock, deadlines, expired, make } = setUp();
    const thing = deadlines.begin(make("thing"));
    expect(clock.pendingTimers).toBe(0);
    deadlines.end(thing);
    await clock.advance(LIMIT);
    expect([expired, clock.pendingTimers]).toEqual([[], 0]);
  });

  test("ended deadlines are not kept in memory, even while only young memory is collected", async () => {
    const { deadlines } = setUp();
    const running: Deadline[] = [];
    const begin = (): void => {
      const held = Array.from({ length: 500 }, () => 0);
      running.push(deadlines.begin({ expire: () => void held.length }));
    };
    const endOldest = (): void => {
      const [oldest] = running.splice(0, 1);
      if (oldest !== undefined) deadlines.end(oldest);
    };
    for (let count = 0; count < 16; count += 1) begin();
    // What survives two collections is old.
    collectYoung();
    collectYoung();
    const before = process.memoryUsage().heapUsed;
    let most = 0;
    for (let round = 0; round < 20; round += 1) {
      for (let count = 0; count < 100; count += 1) {
        begin();
        endOldest();
      }
      collectYoung();
      most = Math.max(most, process.memoryUsage().heapUsed - before);
      await endOfTurn();
    }
    // 8 MB were begun and ended.
    expect(most).toBeLessThan(3 * 1024 * 1024);
    while (running.length > 0) endOldest();
  });

  test("deadlines follow the wall clock if the clock has no other", async () => {
    const { clock, expired, make } = setUp();
    const deadlines = new Deadlines({ now: () => clock.now(), setTimer: (...args) => clock.setTimer(...args) }, LIMIT);
    deadlines.begin(make("a"));
    await clock.advance(LIMIT);
    expect(expired).toEqual(["a 1000"]);
  });
});
