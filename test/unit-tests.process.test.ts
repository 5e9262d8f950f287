import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "..");
const IMPORT = /(?:from|import\()\s*"(\.[^"]+)"/g;
const FORBIDDEN = /"(?:node:child_process|playwright-core)"/;

function listUnitTests(): string[] {
  const args = [
    resolve(ROOT, "node_modules/vitest/vitest.mjs"),
    "list",
    "--project",
    "fast",
    "--project",
    "unit",
    "--filesOnly",
    "--json",
  ];
  const listed = JSON.parse(execFileSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" })) as {
    file: string;
  }[];
  return listed.map(({ file }) => file);
}

/** The file, and what it imports from `test/`. */
function reach(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, target = ""] of readFileSync(file, "utf8").matchAll(IMPORT)) {
    const path = resolve(dirname(file), target).replace(/\.js$/, ".ts");
    if (path.endsWith(".ts") && existsSync(path)) reach(path, found);
  }
  return found;
}

test("unit tests start no process and no browser, otherwise the file's name ends in .process.test.ts", () => {
  const files = listUnitTests();
  expect(files.length).toBeGreaterThan(100);
  const guilty = files.filter((file) => [...reach(file)].some((path) => FORBIDDEN.test(readFileSync(path, "utf8"))));
  expect(guilty.map((file) => relative(ROOT, file))).toEqual([]);
});
