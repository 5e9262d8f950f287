import type { ChangedPackage, PackageChange } from "../simulation/package-copy.js";

/** The test that finds a mistake is the model of a store, not one by its name. */
export const MODEL = "model";

/** A place of a compiled file, and what is there instead. */
export type Change = readonly [file: string, from: string, to: string];

export const toPackageChange = ([file, from, to]: Change): PackageChange => ({ file, from, to });

/** Mistakes by the test that finds them, and by name: one change each, or several. */
export type MistakesBy<Test extends string> = Readonly<
  Partial<Record<Test | typeof MODEL, Readonly<Record<string, Change | readonly Change[]>>>>
>;

/** A package with a mistake. */
export interface StoreMutant<Test extends string> extends ChangedPackage {
  /** The test that finds it; undefined for the model of a store. */
  shownBy: Test | undefined;
}

export function mutantsOf<Test extends string>(mistakes: MistakesBy<Test>): StoreMutant<Test>[] {
  const tests = Object.keys(mistakes) as (Test | typeof MODEL)[];
  return tests.flatMap((test) =>
    Object.entries(mistakes[test] ?? {}).map(([name, given]) => {
      const changes = (isOne(given) ? [given] : given).map(toPackageChange);
      return { name, shownBy: test === MODEL ? undefined : test, changes };
    }),
  );
}

const isOne = (given: Change | readonly Change[]): given is Change => typeof given[0] === "string";
