// A client loads its contract with its first call, for which the time of the first world would not wait.
import "#pigeonhole/client/create-client.js";
import { PigeonholeError, RetryAfter, createReceiver, createSqliteStore } from "pigeonhole";
import { findViolations } from "./invariants.js";
import type { Kit } from "./machine.js";
import { type SeedPlan, planSeed } from "./plan.js";
import { type History, simulate } from "./world.js";

/** The package as it was built. */
export const BUILT: Kit = { createReceiver, createSqliteStore, PigeonholeError, RetryAfter };

/** Runs one seed. Rejects with the seed, what is wrong, and how to see it again. */
export async function runSeed(seed: number, kit: Kit): Promise<History> {
  const plan = planSeed(seed);
  let violations: string[];
  try {
    const history = await simulate(plan, kit);
    violations = findViolations(history);
    if (violations.length === 0) return history;
  } catch (error) {
    violations = [`ended with ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`];
  }
  throw new Error(describeFailure(plan, violations));
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
