import { describe, expect, onTestFinished, test } from "vitest";
import { describeOnPostgres } from "../../support/postgres-server.js";
import { loadPostgresCopy } from "./load-postgres-copy.js";
import { POSTGRES_MUTANTS } from "./mutants.js";
import { POSTGRES_SCENARIOS, PostgresScene } from "./scenarios.js";

describeOnPostgres((database) => {
  describe("the scenarios on PostgreSQL with a mutant", () => {
    // The long form has all of them.
    const mutants = POSTGRES_MUTANTS.filter((_, index) => process.env["MUTANTS"] === "all" || index % 2 === 0);
    test.each(mutants.map((mutant) => [mutant.name, mutant] as const))(
      "the scenarios on PostgreSQL find a package that %s",
      async (_, mutant) => {
        const scenario = POSTGRES_SCENARIOS.find(({ name }) => name === mutant.shownBy) ?? expect.unreachable();
        const scene = new PostgresScene(database, await loadPostgresCopy(mutant));
        onTestFinished(() => scene.dispose());
        await expect(scenario.run(scene)).rejects.toThrow();
      },
    );

    test("the scenarios on PostgreSQL pass in a copy without a mistake", async () => {
      const kit = await loadPostgresCopy({ name: "does everything right", changes: [] });
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
