import { setTimeout as sleep } from "node:timers/promises";
import { createReceiver, createSqliteStore } from "pigeonhole";
import { describe, expect, test } from "vitest";
import { findViolations } from "./invariants.js";
import type { Kit } from "./machine.js";
import { type SeedPlan, planSeed } from "./plan.js";
import { type History, simulate } from "./world.js";

/** The package as it was built. */
export const BUILT: Kit = { createReceiver, createSqliteStore };

/** Seeds of one test, so that a long run shows how far it is. */
const BLOCK = 50;
/** Real time; many times what a seed takes. What takes longer hangs. */
const MOST_SEED_MS = 30_000;

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
];

/**
 * Tests for every second seed, so that two files share the machine's cores. The environment variable `SEED` is the one seed to
 * run, and `SEEDS` how many (500 unless told otherwise).
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
      block.length * MOST_SEED_MS,
    );
  }
  describe.skipIf(seeds.length < 200)("all worlds together", () => {
    test("meet every kind of trouble that they are there for", () => {
      expect(MUST_MEET.filter((what) => !met.has(what))).toEqual([]);
    });
  });
}

/** Runs one seed. Rejects with the seed, what is wrong, and how to see it again. */
export async function runSeed(seed: number, kit: Kit): Promise<History> {
  const plan = planSeed(seed);
  const timeout = new AbortController();
  let violations: string[];
  try {
    const late = sleep(MOST_SEED_MS, undefined, { signal: timeout.signal });
    const history = await Promise.race([simulate(plan, kit), late]);
    if (history !== undefined) violations = findViolations(history);
    else violations = [`still runs after ${MOST_SEED_MS} ms`];
    if (history !== undefined && violations.length === 0) return history;
  } catch (error) {
    violations = [`ended with ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`];
  } finally {
    timeout.abort();
  }
  throw new Error(describeFailure(plan, violations));
}

function chooseSeeds(): number[] {
  const { SEED, SEEDS = "500" } = process.env;
  if (SEED !== undefined) return [Number(SEED)];
  return Array.from({ length: Number(SEEDS) }, (_, index) => index + 1);
}

function describeFailure({ seed, happenings }: SeedPlan, violations: readonly string[]): string {
  const troubles = happenings
    .filter(({ happening }) => happening.kind !== "event")
    .toSorted((a, b) => a.atMs - b.atMs)
    .map(({ atMs, happening }) => `  at ${(atMs / 60_000).toFixed(2)} min: ${JSON.stringify(happening)}`);
  return [
    `Seed ${seed} breaks a promise. Again with: SEED=${seed} npx vitest run test/simulation/seeds`,
    ...violations.map((violation) => `  ${violation}`),
    "Its troubles:",
    ...troubles,
  ].join("\n");
}
