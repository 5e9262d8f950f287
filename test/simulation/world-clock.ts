import { setImmediate } from "node:timers/promises";
import { type ManualClock, createClockThatRests } from "#pigeonhole/base/manual-clock.js";

/** Turns of the event loop between two timers: enough for what takes no call of the store. */
const TURNS = 2;
/** Many times what a world needs. One with more never ends, however fast the machine is. */
const MAX_TURNS = 1_000_000;

/** Real time without a single turn. */
const STILL_MS = 15_000;

/** The time of a seed's world. It moves from timer to timer, and stands still while something holds it. */
export interface WorldClock extends ManualClock {
  /** How far the world has come, in turns of the event loop. */
  turns(): number;
  /** Keeps time from passing while something takes no time worth speaking of and yet many turns of the event loop. */
  hold<Value>(run: () => Promise<Value>): Promise<Value>;
}

export function createWorldClock(): WorldClock {
  let holders = 0;
  let turns = 0;

  /** Lets promises run, and what holds the time come to its end. */
  async function rest(): Promise<void> {
    for (let left = TURNS; left > 0; left -= 1) {
      await setImmediate();
      turns += 1;
      if (turns > MAX_TURNS) throw new Error(`The world still goes on after ${MAX_TURNS} turns.`);
      if (holders > 0) left = TURNS + 1;
    }
  }

  return Object.assign(createClockThatRests(rest, Date.UTC(2026, 0, 1)), {
    turns: () => turns,
    async hold<Value>(run: () => Promise<Value>): Promise<Value> {
      holders += 1;
      try {
        return await run();
      } finally {
        holders -= 1;
      }
    },
  });
}

/** `still` rejects when the world waits for what never comes; on a busy machine it is slow, and yet goes on. */
export function watchProgress(clock: WorldClock): { still: Promise<never>; end: () => void } {
  let interval: NodeJS.Timeout | undefined;
  const still = new Promise<never>((_, reject) => {
    let seen = -1;
    interval = setInterval(() => {
      if (clock.turns() === seen) reject(new Error(`The world stands still at ${clock.elapsedMs} ms.`));
      seen = clock.turns();
    }, STILL_MS);
  });
  return { still, end: () => clearInterval(interval) };
}
