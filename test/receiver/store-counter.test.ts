import { createSqliteStore } from "pigeonhole";
import { expect, onTestFinished, test } from "vitest";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { SECOND } from "#pigeonhole/base/duration.js";
import { StoreCounter } from "#pigeonhole/receiver/store-counter.js";
import { operate } from "../support/operate.js";

/** A counter of a store that takes so long to count, and how often it was counted. */
async function createCounter(tookMs: number) {
  const real = createSqliteStore({ file: ":memory:" });
  await real.open({ logger: silentLogger });
  onTestFinished(() => real.close());
  const time = { elapsed: 0, counted: 0 };
  const operator = {
    overview: () => {
      time.elapsed += tookMs;
      time.counted += 1;
      return operate(real).overview();
    },
  };
  const clock = { now: () => 1_800_000_000_000, elapsed: () => time.elapsed, setTimer: () => expect.unreachable() };
  const counter = new StoreCounter({ store: real, operator, dispatcher: { waitingSince: undefined }, clock });
  return { counter, time };
}

test.each([
  [1, 60],
  [200, 30],
  [2_000, 3],
])(
  "a store that takes %i ms is counted %i times in ten minutes when it is asked for each ten seconds",
  async (tookMs, times) => {
    const { counter, time } = await createCounter(tookMs);
    for (let asked = 0; asked < 60; asked += 1) {
      time.elapsed = Math.max(time.elapsed, asked * 10 * SECOND);
      await counter.countIfCheap();
    }
    expect(time.counted).toBe(times);
  },
);

test("a count that was asked for a moment ago is not made again", async () => {
  const { counter, time } = await createCounter(0);
  await counter.count();
  await counter.countIfCheap();
  time.elapsed += 10 * SECOND;
  await counter.countIfCheap();
  expect(time.counted).toBe(2);
});
