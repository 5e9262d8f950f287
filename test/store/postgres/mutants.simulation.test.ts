import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import type * as postgres from "#pigeonhole/store/postgres/postgres-store.js";
import { copyPackage } from "../../simulation/package-copy.js";
import { describeOnPostgres } from "../../support/postgres-server.js";
import { POSTGRES_MUTANTS, type PostgresMutant } from "./mutants.js";
import { POSTGRES_SCENARIOS, PostgresScene } from "./scenarios.js";

/** The store of a copy of the package that is removed after the test. */
async function loadCopy(mutant: Pick<PostgresMutant, "name" | "changes">): Promise<typeof postgres> {
  const copy = copyPackage(mutant);
  onTestFinished(copy.remove);
  const path = join(dirname(copy.entry), "store/postgres/postgres-store.js");
  return (await import(/* @vite-ignore */ pathToFileURL(path).href)) as typeof postgres;
}

describeOnPostgres((database) => {
  describe("the scenarios on PostgreSQL with a mutant", () => {
    test.each(POSTGRES_MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
      "the scenarios on PostgreSQL find a package that %s",
      async (_, mutant) => {
        const scenario = POSTGRES_SCENARIOS.find(({ name }) => name === mutant.shownBy) ?? expect.unreachable();
        const scene = new PostgresScene(database, await loadCopy(mutant));
        onTestFinished(() => scene.dispose());
        await expect(scenario.run(scene)).rejects.toThrow();
      },
    );

    test("the scenarios on PostgreSQL pass in a copy without a mistake", async () => {
      const kit = await loadCopy({ name: "does everything right", changes: [] });
      for (const scenario of POSTGRES_SCENARIOS) {
        const scene = new PostgresScene(database, kit);
        try {
          await scenario.run(scene);
        } finally {
          await scene.dispose();
        }
      }
    });
  });
});
