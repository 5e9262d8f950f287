import { describe, expect, test } from "vitest";
import type { Option } from "#pigeonhole/base/options.js";
import { DOCUMENTED, readFields, statedDefault } from "./option-tables.js";

// The docstrings that editors and documents show beside the definitions that count.

describe.each(DOCUMENTED)("the options of $of", (documented) => {
  const fields = readFields(documented.interface);
  const rows = Object.entries<Option<never, unknown>>(documented.definition.rows);

  test("the options are those that the interface documents", () => {
    expect([...fields.keys()].toSorted()).toEqual(rows.map(([name]) => name).toSorted());
  });

  test("each option has the default that its docstring states", () => {
    for (const [name, option] of rows) {
      const { byDefault } = fields.get(name) ?? {};
      // In words where the definition has none, or one that is no plain value.
      const stated = byDefault === undefined ? undefined : statedDefault(byDefault);
      if (stated !== undefined) expect([name, stated]).toEqual([name, option.default]);
      if (option.required === true) expect([name, byDefault]).toEqual([name, undefined]);
    }
  });
});

test.each([
  ["300", 300],
  ["5,000", 5_000],
  ["0.5", 0.5],
  ["5 MiB", 5 * 1024 ** 2],
  ["15 minutes", 900_000],
  ["90 days", 90 * 86_400_000],
  ["`false`", false],
  ["true", true],
  ['"retry"', "retry"],
  ["'forward'", "forward"],
  ["the machine's clock", undefined],
  ["10 s of real time, or 56 h with a manual clock", undefined],
])("the stated default %s is read as %j", (text, value) => {
  expect(statedDefault(text)).toBe(value);
});
