import { describe, expect, test } from "vitest";
import type { Option } from "#pigeonhole/base/options.js";
import { CAPTURE_FOLDER_OPTIONS } from "#pigeonhole/capture/folder/capture-folder.js";
import { DEV_OPTIONS } from "#pigeonhole/dev/options.js";
import { SCAFFOLD_OPTIONS } from "#pigeonhole/scaffold/project/scaffold-options.js";
import { DOCUMENTED, type DocumentedOptions, readFields, statedDefault } from "./option-tables.js";

// The docstrings that editors and documents show beside the definitions that count.

const internal = (
  of: string,
  definition: DocumentedOptions["definition"],
  ...interfaces: DocumentedOptions["interfaces"]
): DocumentedOptions => ({ of, page: "", definition, interfaces });

/** Options that no caller of the package gives, and so no document lists. */
const INTERNAL: readonly DocumentedOptions[] = [
  internal("startDevServer", DEV_OPTIONS, ["dev/options", "DevServerOptions"]),
  internal("openCaptureFolder", CAPTURE_FOLDER_OPTIONS, ["capture/folder/capture-folder", "CaptureFolderOptions"]),
  internal("planScaffold", SCAFFOLD_OPTIONS, ["scaffold/project/scaffold-options", "ScaffoldOptions"]),
];

describe.each([...DOCUMENTED, ...INTERNAL])("the options of $of", (documented) => {
  const fields = readFields(documented);
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

  test("each option has an explanation in its docstring", () => {
    expect([...fields].filter(([, { words }]) => words === "").map(([name]) => name)).toEqual([]);
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
