import { dirname } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { copyPackage } from "../../simulation/package-copy.js";
import { LAYOUT_MUTANTS, type LayoutMutant } from "./layout-mutants.js";
import { type LayoutKit, loadLayoutKit, Scene } from "./layout-scene.js";
import { type Scenario, SCENARIOS } from "./layout-scenarios.js";

/** A copy of the package that is removed after the test. */
async function loadCopy(changed: Pick<LayoutMutant, "name" | "changes">): Promise<LayoutKit> {
  const copy = copyPackage(changed);
  onTestFinished(copy.remove);
  return loadLayoutKit(dirname(copy.entry));
}

async function isBrokenIn(kit: LayoutKit, scenario: Scenario): Promise<boolean> {
  const scene = new Scene(kit);
  try {
    await scenario.run(scene);
    return false;
  } catch {
    return true;
  } finally {
    await scene.dispose().catch(() => undefined);
  }
}

describe("the scenarios of the SQLite file with a mutant", () => {
  // The long form has all of them.
  const mutants = LAYOUT_MUTANTS.filter((_, index) => process.env["MUTANTS"] === "all" || index % 2 === 0);
  for (const mutant of mutants) {
    test(`the scenarios of the SQLite file find a package that ${mutant.name}`, async () => {
      const { shownBy } = mutant;
      const kit = await loadCopy(mutant);
      const scenario = SCENARIOS.find(({ name }) => name === shownBy) ?? expect.unreachable(`no scenario "${shownBy}"`);
      expect(await isBrokenIn(kit, scenario)).toBe(true);
    });
  }
});

test("the scenarios of the SQLite file pass in a copy without a mistake", async () => {
  const kit = await loadCopy({ name: "does everything right", changes: [] });
  const named = SCENARIOS.filter(({ name }) => LAYOUT_MUTANTS.some(({ shownBy }) => shownBy === name));
  for (const scenario of named) expect(await isBrokenIn(kit, scenario), scenario.name).toBe(false);
});
