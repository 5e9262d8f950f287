import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { LOADED_ELSEWHERE } from "../support/loaded-elsewhere.js";
import { hasPostgres, isRoot } from "../support/tools.js";
import { FILES, ROOT, read } from "./repository.js";

const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");

/** A statement that is there when the program runs. */
const HAS_VALUES = /^(?:export )?(?:default |abstract |async )*(?:const|let|class|function|await)\b|^export [*{]/m;
const FORBIDDEN = /"(?:node:child_process|playwright-core)"/;
const textOf = (path: string): string => (existsSync(path) ? readFileSync(path, "utf8") : "");
/** What a file imports, types left out. */
const IMPORT = /^(?:import|export) (?!type\b)(?:[^;"]*? from )?"([^"]+)"|(?:await|=>) import\(\s*"([^"]+)"\)/gm;

function importedBy(file: string): string[] {
  const imported = [...textOf(file).matchAll(IMPORT)].flatMap(([, atOnce, later]) => {
    const specifier = atOnce ?? later ?? "";
    const inSource = specifier.replace(/^pigeonhole$/, "pigeonhole/index").replace(/^#?pigeonhole\//, `${ROOT}/src/`);
    const path = resolve(dirname(file), inSource).replace(/\.js$/, "");
    return [`${path}.ts`, `${path}.tsx`, path].filter((found) => statSync(found, { throwIfNoEntry: false })?.isFile());
  });
  const elsewhere = LOADED_ELSEWHERE[relative(ROOT, file)] ?? [];
  return [...imported, ...elsewhere.map((path) => join(ROOT, path))];
}

/** The file, and all that it loads of this folder of the repository. */
function reach(file: string, folder = "", found = new Set<string>()): Set<string> {
  if (found.has(file) || !file.startsWith(join(ROOT, folder))) return found;
  found.add(file);
  for (const path of importedBy(file)) reach(path, folder, found);
  return found;
}

function listUnitTests(): string[] {
  const projects = ["--project", "fast", "--project", "unit"];
  const args = [VITEST, "list", ...projects, "--filesOnly", "--json"];
  const listed = execFileSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" });
  return (JSON.parse(listed) as { file: string }[]).map(({ file }) => file);
}

test("unit tests start no process and no browser, otherwise the file's name ends in .process.test.ts", () => {
  const files = listUnitTests();
  expect(files.length).toBeGreaterThan(100);
  const guilty = files.filter((file) => [...reach(file, "test")].some((path) => FORBIDDEN.test(textOf(path))));
  expect(guilty.map((file) => relative(ROOT, file))).toEqual([]);
});

test("each module with more than types is loaded by a test, so that --changed runs one after its change", () => {
  const found = new Set<string>();
  for (const path of FILES) if (path.endsWith(".test.ts")) reach(join(ROOT, path), "", found);
  const modules = FILES.filter((path) => /^src\/.*\.tsx?$|^test\/(?!bench).*\.mjs$/.test(path));
  const unknown = modules.filter((path) => !found.has(join(ROOT, path)) && HAS_VALUES.test(read(path)));
  expect(modules.length).toBeGreaterThan(700);
  expect(unknown).toEqual(["test/support/threads-of-source.mjs"]);
});

test("a run names each skipped group of tests in one line, with what is missing", () => {
  const files = ["test/process/quiet.test.ts", "test/torture/power-loss.test.ts", "test/dispatch/pauses.test.ts"];
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

test.each(["ci", "nightly", "publish"])("the actions of the workflow %s are pinned by digest", (name) => {
  const uses = read(`.github/workflows/${name}.yml`).match(/uses: .*/g) ?? [];
  expect(uses.length).toBeGreaterThan(1);
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
