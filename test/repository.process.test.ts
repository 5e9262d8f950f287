import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { makeFolder } from "./support/folder.js";
import { hasPostgres, isRoot } from "./support/tools.js";

// What holds for the repository itself: its source, its tests, its workflows, its lockfile.

const ROOT = resolve(import.meta.dirname, "..");
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** Of a function in `src/`. One that holds others counts with them; a class is none, its methods are. */
const MAX_LINES = 60;

interface Diagnostic {
  message: string;
  filename: string;
}

/** Functions of more than `max` lines in these paths, as oxlint counts them: file, name and lines. */
function longFunctions(paths: readonly string[], max: number): Record<string, number> {
  const folder = makeFolder();
  const config = join(folder, "oxlintrc.json");
  const rules = { "max-lines-per-function": ["error", { max, IIFEs: true }] };
  writeFileSync(config, JSON.stringify({ categories: { correctness: "off" }, plugins: [], rules }));
  const program = join(ROOT, "node_modules/oxlint/bin/oxlint");
  const options = { cwd: ROOT, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 } as const;
  const child = spawnSync(process.execPath, [program, "--config", config, "--format", "json", ...paths], options);
  const { diagnostics } = JSON.parse(child.stdout) as { diagnostics: Diagnostic[] };
  const found: Record<string, number> = {};
  for (const { message, filename } of diagnostics) {
    const [, name = "(no name)", lines] = /(?:`([^`]*)` )?has too many lines \((\d+)\)/.exec(message) ?? [];
    expect(lines, message).toBeDefined();
    const place = `${filename.replace(/^.*?src\//, "")} ${name}`;
    found[place] = Math.max(found[place] ?? 0, Number(lines));
  }
  return found;
}

describe("the length of functions", () => {
  test("the length of a function includes inner functions, and methods count on their own", () => {
    const long = longFunctions(["src/dispatch/dispatcher.ts", "src/store/sqlite/sqlite-store.ts"], 5);
    const dispatcher = read("src/dispatch/dispatcher.ts").split("\n").length;
    expect(Math.max(...Object.values(long))).toBe(long["store/sqlite/sqlite-store.ts createSqliteStore"]);
    expect(long["dispatch/dispatcher.ts stop"]).toBeGreaterThan(5);
    expect(
      Object.entries(long).filter(([name, lines]) => name.startsWith("dispatch") && lines > dispatcher / 2),
    ).toEqual([]);
  });

  test(`each function of src has at most ${MAX_LINES} lines`, () => {
    expect(longFunctions(["src"], MAX_LINES)).toEqual({});
  });
});

const IMPORT = /(?:from|import\()\s*"(\.[^"]+)"/g;
const FORBIDDEN = /"(?:node:child_process|playwright-core)"/;

function listUnitTests(): string[] {
  const projects = ["--project", "fast", "--project", "unit"];
  const args = [VITEST, "list", ...projects, "--filesOnly", "--json"];
  const listed = execFileSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" });
  return (JSON.parse(listed) as { file: string }[]).map(({ file }) => file);
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

test("a run names each skipped group of tests in one line, with what is missing", () => {
  const files = ["test/quiet.process.test.ts", "test/torture/power-loss.test.ts", "test/dispatch/pauses.test.ts"];
  const args = [VITEST, "run", ...files, "--testNamePattern", "no such test"];
  const env = { ...process.env, PATH: "", NO_COLOR: "1" };
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, env, encoding: "utf8" });
  const lines = (stdout + stderr).match(/^Skipped .*$/gm) ?? [];
  const tools = ["cc", "script of util-linux", "strace", "promtool of Prometheus", "openssl"];
  const missing = [
    "a store in memory that keeps its data",
    ...(hasPostgres() ? [] : ["PostgreSQL"]),
    ...tools,
    ...["/proc of Linux", "/sys of Linux", "/dev/full"].filter((path) => !existsSync(path.split(" ")[0] ?? path)),
    isRoot() ? "a user other than root" : "root",
    ...(hasPostgres() ? [] : ["PostgreSQL"]),
    "cc",
  ];
  // The files run at the same time, so their lines come in any order.
  expect(lines.map((line) => /without (.*?):/.exec(line)?.[1] ?? line).toSorted()).toEqual(missing.toSorted());
});

describe("the step of the publish workflow that compares the repository", () => {
  const workflow = read(".github/workflows/publish.yml");
  const [, command = ""] = /package\.json names this repository[\s\S]*?run: (.*)/.exec(workflow) ?? [];
  const passes = (repository: string) =>
    spawnSync("sh", ["-c", command], { cwd: ROOT, env: { ...process.env, REPOSITORY: repository } }).status === 0;

  test("the step of the publish workflow passes in the repository that package.json names", () => {
    const { repository } = JSON.parse(read("package.json")) as { repository: { url: string } };
    const [, named = ""] = /github\.com\/(.*)\.git$/.exec(repository.url) ?? [];
    expect(passes(named)).toBe(true);
  });

  test("the step of the publish workflow fails in any other repository, and while package.json has the placeholder", () => {
    expect(passes("somewhere/pigeonhole")).toBe(false);
  });
});

test("the publish workflow asks for the right to sign its provenance, and tests every supported Node", () => {
  const workflow = read(".github/workflows/publish.yml");
  const [, tests = "", publish = ""] = workflow.split(/^(?:jobs| {2}publish):$/m);
  expect(publish).toMatch(/^ +needs: test$/m);
  expect(publish).toMatch(/^ +id-token: write/m);
  expect(publish).toContain("npm publish --provenance");
  // What runs the code of development dependencies can neither sign nor publish.
  expect(tests).not.toMatch(/id-token|NPM_TOKEN/);
  expect(publish).not.toMatch(/\.ci\/run|npm (?:test|run)|npm ci(?! --ignore-scripts)/);
  const ci = read(".github/workflows/ci.yml");
  expect(ci).toMatch(/- run: \.ci\/run --shard /m);
  expect(read(".ci/run")).toMatch(/^npm test\nnpm run test:rest -- "\$@"$/m);
  expect(tests).toMatch(/- run: npm run test:versions$/m);
  expect(read("test/versions/main.ts")).toContain('default: "20,22,24,26"');
});

test.each(["ci", "publish"])("the actions of the workflow %s are pinned by digest, with their version", (name) => {
  const workflow = read(`.github/workflows/${name}.yml`);
  const uses = workflow.match(/uses: .*/g) ?? [];
  expect(uses.length).toBeGreaterThan(3);
  for (const line of uses) expect(line).toMatch(/^uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

test("the lockfile says that better-sqlite3 has nothing to compile, so that npm does not need Python", () => {
  const lock = JSON.parse(read("package-lock.json")) as {
    packages: Record<string, { version: string; gypfile?: boolean }>;
  };
  const driver = lock.packages["node_modules/better-sqlite3"];
  expect(driver?.version).toMatch(/^13\./);
  // npm install drops the line; write it again.
  expect(driver?.gypfile, 'package-lock.json: "gypfile": false of node_modules/better-sqlite3').toBe(false);
});
