import { expect, test } from "vitest";
import { MUTANTS } from "../simulation/mutants.js";
import { changeFiles } from "../simulation/package-copy.js";
import { POSTGRES_MUTANTS } from "./postgres/mutants.js";
import { LAYOUT_MUTANTS } from "./sqlite/layout-mutants.js";

// The short forms run some mutants only; those whose place has changed would be missed until the long form.
test.each([...MUTANTS, ...LAYOUT_MUTANTS, ...POSTGRES_MUTANTS].map((mutant) => [mutant.name, mutant] as const))(
  "the built package has the places that a mutant changes which %s",
  (_, mutant) => {
    expect(changeFiles(mutant).size).toBeGreaterThan(0);
  },
);
