import { expect, test } from "vitest";
import { MUTANTS } from "../../simulation/mutants.js";
import { changeFiles } from "../../simulation/package-copy.js";
import { LAYOUT_MUTANTS } from "../sqlite/layout-mutants.js";
import { POSTGRES_MUTANTS } from "./mutants.js";
import { POSTGRES_SCENARIOS } from "./scenarios.js";
import { SQLITE_TWINS } from "./sqlite-twins.js";

const OF_SQLITE = [...MUTANTS, ...LAYOUT_MUTANTS];
const NAMES = POSTGRES_MUTANTS.map(({ name }) => name);

test("each mutant of SQLite alone has a twin on PostgreSQL, or a reason why there is none", () => {
  const isOfSqlite = ({ changes }: (typeof OF_SQLITE)[number]): boolean =>
    changes.some(({ file }) => /^store\/(?!queries\/)/.test(file));
  expect(Object.keys(SQLITE_TWINS).toSorted()).toEqual(
    OF_SQLITE.filter(isOfSqlite)
      .map(({ name }) => name)
      .toSorted(),
  );
  const twins = Object.values(SQLITE_TWINS).filter((twin) => typeof twin === "string");
  expect(NAMES).toEqual(expect.arrayContaining(twins));
});

test("each mutant on PostgreSQL has a name of its own, and a scenario that shows it where it names one", () => {
  expect(new Set(NAMES).size).toBe(NAMES.length);
  const scenarios = POSTGRES_SCENARIOS.map(({ name }) => name);
  const shown = POSTGRES_MUTANTS.flatMap(({ shownBy }) => shownBy ?? []);
  expect(scenarios).toEqual(expect.arrayContaining(shown));
});

// The short forms run some mutants only; those whose place has changed would be missed until the long form.
test.each([...OF_SQLITE, ...POSTGRES_MUTANTS].map((mutant) => [mutant.name, mutant] as const))(
  "the built package has the places that a mutant changes which %s",
  (_, mutant) => {
    expect(changeFiles(mutant).size).toBeGreaterThan(0);
  },
);
