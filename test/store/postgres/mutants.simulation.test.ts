import { describe, expect, onTestFinished, test } from "vitest";
import type * as postgres from "#pigeonhole/store/postgres/postgres-store.js";
import { describeOnPostgres } from "../../support/postgres-server.js";
import { loadCopyOf } from "../../simulation/load-copy.js";
import type { ChangedPackage } from "../../simulation/package-copy.js";
import { compareWithModel } from "../model/test-models.js";
import { postgresKind } from "../postgres-kind.js";
import { POSTGRES_MUTANTS } from "./mutants.js";
import { PostgresScene, POSTGRES_SCENARIOS } from "./scenarios.js";

/** The long form has all of them. */
const HAS_ALL = process.env["MUTANTS"] === "all";

const load = (changed: ChangedPackage) => loadCopyOf<typeof postgres>(changed, "store/postgres/postgres-store.js");

describeOnPostgres((database) => {
  const useScene = (build: typeof postgres): PostgresScene => {
    const scene = new PostgresScene(database, build);
    onTestFinished(() => scene.dispose());
    return scene;
  };

  describe("the store on PostgreSQL with a mutant", () => {
    const mutants = POSTGRES_MUTANTS.filter((_, index) => HAS_ALL || index % 3 === 1);
    test.each(mutants.map((mutant) => [mutant.name, mutant] as const))(
      "the model or a scenario finds a package that %s",
      async (_, mutant) => {
        const build = await load(mutant);
        const scene = useScene(build);
        const { shownBy } = mutant;
        if (shownBy !== undefined) return expect(POSTGRES_SCENARIOS[shownBy](scene)).rejects.toThrow();
        const compared = compareWithModel({
          kind: postgresKind(database, build),
          numRuns: 100,
          maxCommands: 100,
          seed: 1,
        });
        return expect(compared).rejects.toThrow(/Property failed after/);
      },
    );

    test.runIf(HAS_ALL)("the scenarios pass in a copy without a mistake", async () => {
      const build = await load({ name: "does everything right", changes: [] });
      for (const scenario of Object.values(POSTGRES_SCENARIOS)) {
        const scene = new PostgresScene(database, build);
        try {
          await scenario(scene);
        } finally {
          await scene.dispose();
        }
      }
      useScene(build);
      await compareWithModel({ kind: postgresKind(database, build), numRuns: 5, maxCommands: 100, seed: 1 });
    });
  });
});
