import { expect, test } from "vitest";
import { MUTANTS } from "../../simulation/mutants.js";
import { changeFiles } from "../../simulation/package-copy.js";
import { LAYOUT_MUTANTS } from "../sqlite/layout-mutants.js";
import { POSTGRES_MUTANTS } from "./mutants.js";
import { POSTGRES_SCENARIOS } from "./scenarios.js";
import { SHARED_MISTAKES, SQLITE_TWINS } from "./sqlite-twins.js";

const OF_SQLITE = [...MUTANTS, ...LAYOUT_MUTANTS];
const NAMES = POSTGRES_MUTANTS.map(({ name }) => name);

test("each mutant of the SQLite store has a twin on PostgreSQL, or a reason why there is none", () => {
  expect(Object.keys(SQLITE_TWINS).toSorted()).toEqual(OF_SQLITE.map(({ name }) => name).toSorted());
});

test.each(OF_SQLITE.map(({ name, changes }) => [name, changes] as const))(
  "what is said of the twin of the mutant that %s is true",
  (name, changes) => {
    const twin = SQLITE_TWINS[name] ?? expect.unreachable();
    if ("mutant" in twin) expect(NAMES).toContain(twin.mutant);
    if ("shared" in twin) expect(changes.every(({ file }) => file.startsWith("store/queries/"))).toBe(true);
    if ("above" in twin) expect(changes.filter(({ file }) => file.startsWith("store/"))).toEqual([]);
    if ("none" in twin) expect(changes.every(({ file }) => file.startsWith("store/sqlite/"))).toBe(true);
  },
);

test.each(Object.entries(SHARED_MISTAKES))("a mutant on PostgreSQL makes the mistake: %s", (_, mutants) => {
  expect(NAMES).toEqual(expect.arrayContaining([...mutants]));
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
