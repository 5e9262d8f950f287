import { describe, expect, test } from "vitest";
import { loadCopyOf } from "../../simulation/load-copy.js";
import { compareWithModel } from "../model/test-models.js";
import { fileOf } from "../sqlite-kind.js";
import { LAYOUT_MUTANTS } from "./layout-mutants.js";
import { type SqliteBuild, TAKE_OVERS } from "./take-over.js";

/** Its commands show most mutants within ten runs. */
const SEED = 6;

const findDifference = (build: SqliteBuild, numRuns: number): Promise<void> =>
  compareWithModel({ kind: fileOf(build), numRuns, maxCommands: 100, seed: SEED });

describe("the store in a file with a mutant", () => {
  // The long form has all of them.
  const mutants = LAYOUT_MUTANTS.filter((_, index) => process.env["MUTANTS"] === "all" || index % 2 === 0);
  test.each(mutants.map((mutant) => [mutant.name, mutant] as const))(
    "the model or a take-over finds a package that %s",
    async (_, mutant) => {
      const build = await loadCopyOf<SqliteBuild>(mutant, "store/sqlite/sqlite-store.js");
      if (mutant.shownBy !== undefined) await expect(TAKE_OVERS[mutant.shownBy](build)).rejects.toThrow();
      else await expect(findDifference(build, 150)).rejects.toThrow(/Property failed after/);
    },
  );
});

test("a copy without a mistake does what the model does, and each take-over", async () => {
  const right = { name: "does everything right", changes: [] };
  const build = await loadCopyOf<SqliteBuild>(right, "store/sqlite/sqlite-store.js");
  await findDifference(build, 10);
  for (const run of Object.values(TAKE_OVERS)) await run(build);
});
