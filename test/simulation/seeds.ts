import { MINUTE } from "#pigeonhole/base/duration.js";
import { describe, expect, test } from "vitest";
import { BUILT, runSeed } from "./run-seed.js";

/** Seeds of one test, so that a long run shows how far it is. */
const BLOCK = 50;
/** Real time, for a machine that is busy with other work; a world that hangs is found by its own clock. */
const MAX_BLOCK_MS = 20 * MINUTE;
/** What all seeds together must have met; otherwise the simulation has become too gentle. */
const MUST_MEET = [
  ...["delivery", "answered", "call", "answer", "handler", "write", "written", "api_call", "api_answer", "turn"].map(
    (place) => `crash: ${place}`,
  ),
  ...["drop", "duplicate", "lose_answer", "reorder", "delay", "status"].map((fault) => `delivery: ${fault}`),
  ...["rotated", "disabled", "enabled"].map((change) => `endpoint: ${change}`),
  "answered 503",
  "switched on again",
  "parked after four crashes",
  ...["store_busy", "store_full", "store_failed"].map((fault) => `store: ${fault}`),
  "slow disk",
  "power lost",
  "one of two died",
  "frozen",
  "frozen, without its lock",
  "flood",
];

/**
 * Tests for every second seed, so that two files share the machine's cores. The environment variable `SEED` is the one
 * seed to run, `SEEDS` how many (600 unless told otherwise), and `FIRST_SEED` the first of them.
 */
export function testSeeds(remainder: 0 | 1): void {
  const seeds = chooseSeeds().filter((seed) => seed % 2 === remainder);
  const met = new Set<string>();
  for (let start = 0; start < seeds.length; start += BLOCK) {
    const block = seeds.slice(start, start + BLOCK);
    test(
      `the promises hold in every second world from ${block[0]} to ${block.at(-1)}`,
      async () => {
        for (const seed of block) {
          const history = await runSeed(seed, BUILT);
          for (const what of history.met) met.add(what);
        }
      },
      MAX_BLOCK_MS,
    );
  }
  // Fewer seeds, as when one is repeated, need not meet everything.
  describe.skipIf(seeds.length < 150)("all worlds together", () => {
    test("all worlds together meet every kind of fault that they are built for", () => {
      expect(MUST_MEET.filter((what) => !met.has(what))).toEqual([]);
    });
  });
}

function chooseSeeds(): number[] {
  const { SEED, SEEDS = "600", FIRST_SEED = "1" } = process.env;
  if (SEED !== undefined) return [Number(SEED)];
  return Array.from({ length: Number(SEEDS) }, (_, index) => index + Number(FIRST_SEED));
}
