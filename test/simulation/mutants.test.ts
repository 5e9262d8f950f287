import { describe, expect, onTestFinished, test } from "vitest";
import type { Kit } from "./machine.js";
import { MUTANTS } from "./mutants.js";
import { type PackageChange, copyPackage, loadPackage } from "./package-copy.js";
import { planSeed } from "./plan.js";
import { BUILT, runSeed } from "./run-seed.js";
import { simulate } from "./world.js";

/** Every mistake must show within so many seeds; the tests of worlds run more. */
const WITHIN_SEEDS = 150;

describe("the simulation with a mutant", () => {
  // The long form has all of them.
  const mutants = MUTANTS.filter((_, index) => process.env["MUTANTS"] === "all" || index % 2 === 0);
  for (const mutant of mutants) {
    test(
      `the simulation finds a package that ${mutant.name}`,
      async () => {
        const kit = await loadCopy(mutant);
        const { seed, message } = await findFirstFailure(kit, mutant.from);
        expect(message).toMatch(mutant.shows);
        expect(message).toContain(`SEED=${seed} npx vitest run test/simulation/seeds`);
      },
      WITHIN_SEEDS * 2_000,
    );
  }
});

/** A copy of the package that is removed after the test. */
async function loadCopy(changed: { name: string; changes: readonly PackageChange[] }): Promise<Kit> {
  const copy = copyPackage(changed);
  onTestFinished(copy.remove);
  return loadPackage(copy);
}

/** Empty when no seed shows anything. */
async function findFirstFailure(kit: Kit, from = 1, seeds = WITHIN_SEEDS): Promise<{ seed: number; message: string }> {
  for (let seed = from; seed < from + seeds; seed += 1) {
    const message = await runSeed(seed, kit).then(
      () => "",
      (error: Error) => error.message,
    );
    if (message !== "") return { seed, message };
  }
  return { seed: 0, message: "" };
}

test("the simulation finds nothing in a copy without a mistake", async () => {
  const kit = await loadCopy({ name: "does everything right", changes: [] });
  expect((await findFirstFailure(kit, 16, 10)).message).toBe("");
});

test.for([2, 8, 84])("world %i is the same in each run, to the last turn", async (seed) => {
  const first = await simulate(planSeed(seed), BUILT);
  expect(first.log.length).toBeGreaterThan(20);
  expect(await simulate(planSeed(seed), BUILT)).toEqual(first);
});
