import { setImmediate } from "node:timers/promises";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { EarliestTimer } from "#pigeonhole/base/earliest-timer.js";
import { RateGate } from "#pigeonhole/dispatch/gates/rate.js";
import type { WindowLease } from "#pigeonhole/dispatch/gate.js";
import { reserveRuns, type RunSlotsRequest } from "#pigeonhole/store/queries/run-slots.js";
import { runInFile } from "#pigeonhole/store/sqlite/run-in-file.js";
import { busiestSpan } from "../support/busiest-span.js";
import { createRandom } from "../support/seeded-random.js";

/** How long each process runs. */
const SPANS = 20;

/** How late things are, in milliseconds at the most: timers, answers of the store, and keys. */
interface Lateness {
  timer: number;
  store: number;
  key: number;
}

/** Several processes that have work all the time, and one row. Resolves with the times at which their runs began. */
async function runTogether(given: {
  rate: { runs: number; per: number };
  processes: number;
  seed: number;
  late: Lateness;
  /** The store also decides about each run. */
  hasKey?: boolean;
}) {
  const { rate, processes, seed, late, hasKey = false } = given;
  const random = createRandom(seed);
  const db = new Database(":memory:");
  db.exec("CREATE TABLE inbox_counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT");
  const queue: { at: number; call: () => void }[] = [];
  let time = 0;
  const upTo = (ms: number): number => Math.floor(random() * (ms + 1));
  const later = (ms: number, call: () => void) => queue.push({ at: time + ms, call });
  const pass = (ms: number): Promise<void> => new Promise((resolve) => void later(ms, resolve));
  const begun: number[] = [];

  for (let process = 0; process < processes; process += 1) {
    const bootMs = upTo(10_000_000);
    const clock = {
      now: () => 1_700_000_000_000 + time,
      elapsed: () => bootMs + time,
      setTimer(call: () => void, ms: number) {
        let isOn = true;
        later(Math.max(0, ms) + upTo(late.timer), () => isOn && call());
        return { cancel: () => void (isOn = false) };
      },
    };
    const reserve = async (request: RunSlotsRequest) => {
      await pass(upTo(late.store));
      const slots = runInFile(db, reserveRuns(request));
      await pass(upTo(late.store));
      return slots;
    };
    const lookTimer = new EarliestTimer(clock, () => look());
    const wakeTimer = new EarliestTimer(clock, () => undefined);
    const gate: RateGate = new RateGate(
      { name: "h", rate, batch: undefined, key: hasKey ? () => "" : undefined, only: undefined },
      {
        store: { reserveRuns: reserve, holdKey: () => Promise.resolve(true) },
        logger: silentLogger,
        clock,
        lane: {
          window: {
            get waiting() {
              return Array.from({ length: 1 + upTo(3) });
            },
          },
          look: () => look(),
          lookTimer,
          wakeTimer,
          closing: new AbortController(),
        },
      },
    );
    const look = (): void => {
      while (gate.allows()) {
        const lease = {} as WindowLease;
        const asked = hasKey ? pass(upTo(late.key)).then(() => true) : undefined;
        const isIn = gate.enter(lease, asked);
        if (isIn === undefined) begun.push(time);
        else void isIn.then((is) => (is ? begun.push(time) : gate.leave(lease)));
      }
      lookTimer.setTo(gate.seek());
    };
    look();
  }
  const end = SPANS * rate.per;
  while (time < end) {
    await setImmediate();
    queue.sort((one, other) => one.at - other.at);
    const next = queue.shift();
    if (next === undefined) break;
    time = next.at;
    next.call();
  }
  return { begun, share: begun.length / (rate.runs * SPANS) };
}

const RATES = [
  { runs: 1, per: 1_000 },
  { runs: 7, per: 1_000 },
  { runs: 60, per: 2_000 },
];
const AT_ONCE: Lateness = { timer: 0, store: 0, key: 0 };
const BUSY: Lateness = { timer: 60, store: 30, key: 90 };
const SLOW: Lateness = { timer: 10, store: 400, key: 900 };

test.each(
  RATES.flatMap((rate) => [
    { rate, processes: 1, late: AT_ONCE, atLeast: 0.94 },
    { rate, processes: 3, late: AT_ONCE, atLeast: 0.9 },
    { rate, processes: 1, late: BUSY, atLeast: 0.1 },
    { rate, processes: 4, late: BUSY, atLeast: 0.1 },
    { rate, processes: 2, late: SLOW, atLeast: 0.05 },
    { rate, processes: 1, late: AT_ONCE, hasKey: true, atLeast: 0.94 },
    { rate, processes: 4, late: BUSY, hasKey: true, atLeast: 0.1 },
    { rate, processes: 2, late: SLOW, hasKey: true, atLeast: 0.05 },
  ]),
)(
  "no span has more than $rate.runs runs in $rate.per ms of $processes processes with $late",
  async ({ atLeast, ...given }) => {
    for (let seed = 1; seed <= 3; seed += 1) {
      const { begun, share } = await runTogether({ ...given, seed });
      expect(busiestSpan(begun, given.rate.per), `seed ${seed}`).toBeLessThanOrEqual(given.rate.runs);
      expect(share, `seed ${seed}`).toBeGreaterThan(atLeast);
    }
  },
);
