import { describe, expect, onTestFinished, test } from "vitest";
import { describeOnPostgres } from "../../support/postgres-server.js";
import { ALL_POSTGRES_MUTANTS, ALL_POSTGRES_SCENARIOS } from "./all-mutants.js";
import { loadPostgresCopy } from "./load-postgres-copy.js";
import { PostgresScene } from "./scenarios.js";

/** The long form has all of them. */
const HAS_ALL = process.env["MUTANTS"] === "all";

describeOnPostgres((database) => {
  describe("the scenarios on PostgreSQL with a mutant", () => {
    const mutants = ALL_POSTGRES_MUTANTS.filter((_, index) => HAS_ALL || index % 6 === 1);
    test.each(mutants.map((mutant) => [mutant.name, mutant] as const))(
      "the scenarios on PostgreSQL find a package that %s",
      async (_, mutant) => {
        const scenario = ALL_POSTGRES_SCENARIOS.find(({ name }) => name === mutant.shownBy) ?? expect.unreachable();
        const scene = new PostgresScene(database, await loadPostgresCopy(mutant));
        onTestFinished(() => scene.dispose());
        await expect(scenario.run(scene)).rejects.toThrow();
      },
    );

    test.runIf(HAS_ALL)(
      "the scenarios on PostgreSQL pass in a copy without a mistake",
      async () => {
        const kit = await loadPostgresCopy({ name: "does everything right", changes: [] });
        for (const scenario of ALL_POSTGRES_SCENARIOS) {
          const scene = new PostgresScene(database, kit);
          try {
            await scenario.run(scene);
          } finally {
            await scene.dispose();
          }
        }
      },
      120_000,
    );
  });
});
