import { expect, test } from "vitest";
import { EarliestTimer } from "#pigeonhole/dispatch/earliest-timer.js";
import type { GatedWork } from "#pigeonhole/dispatch/gate.js";
import { RateGate } from "#pigeonhole/dispatch/gates/rate.js";
import { busiestSpan } from "../support/busiest-span.js";
import { createRandom } from "../support/seeded-random.js";

const RATES = [
  { runs: 1, per: 1_000 },
  { runs: 7, per: 1_000 },
  { runs: 60, per: 2_000 },
];

/** The times at which runs begin of a handler that has work all the time; the process looks late at times. */
function runLate({ rate, lateMs, seed }: { rate: { runs: number; per: number }; lateMs: number; seed: number }) {
  const random = createRandom(seed);
  const bootMs = Math.floor(random() * 10_000_000);
  let time = 0;
  const clock = { now: () => 0, elapsed: () => bootMs + time, setTimer: () => ({ cancel: () => undefined }) };
  const gate = new RateGate(rate, clock, new EarliestTimer(clock, () => undefined));
  const begun: number[] = [];
  while (time < 30 * rate.per) {
    while (gate.allows()) {
      const work: GatedWork = { handler: "h" };
      gate.enter(work);
      // Some does not run: a newer event of its key has its place.
      if (random() < 0.2) gate.leave(work, undefined);
      else begun.push(time);
    }
    time = Math.max(time, gate.seek() - bootMs) + Math.floor(random() * (lateMs + 1));
  }
  return { begun, share: begun.length / (rate.runs * 30) };
}

test.each(
  RATES.flatMap((rate) => [
    { rate, lateMs: 0, atLeast: 0.94 },
    { rate, lateMs: 60, atLeast: 0.8 },
    { rate, lateMs: 900, atLeast: 0.05 },
  ]),
)("no span has more than $rate.runs runs in $rate.per ms, also $lateMs ms late", ({ atLeast, ...given }) => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const { begun, share } = runLate({ ...given, seed });
    expect(busiestSpan(begun, given.rate.per), `seed ${seed}`).toBeLessThanOrEqual(given.rate.runs);
    expect(share, `seed ${seed}`).toBeGreaterThan(atLeast);
  }
});
