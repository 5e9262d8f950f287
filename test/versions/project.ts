import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { INSTALL, type NodeVersion, ROOT, fetchPackage, readJson, run, runAny } from "./programs.js";

/** Tests that run on what a user's project has installed. */
const TESTED = [
  "test/http",
  "test/process/kill.test.ts",
  "test/store/conformance",
  "test/store/conformance.ts",
  "test/store/conformance-file.process.test.ts",
  "test/store/sqlite-kind.ts",
  "test/quiet.process.test.ts",
  "test/support",
  "vitest.config.ts",
];

/** What those need beside the package. */
const TEST_PACKAGES = ["@hono/node-server", "@types/node", "express", "express4", "hono", "pino", "vitest"];

/** The store of a receiver: the conformance suite has others too. */
const STORE = "SQLite in a file, with a writer thread";

interface Manifest {
  version: string;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

/** A fresh project in which npm has installed the tarball, under this Node. */
export function makeProject(folder: string, tarball: string, { env }: NodeVersion): void {
  const own = readJson(join(ROOT, "package.json")) as Manifest;
  const wanted = { ...own.dependencies, ...own.devDependencies };
  const devDependencies = Object.fromEntries(TEST_PACKAGES.map((name) => [name, wanted[name]]));
  mkdirSync(folder);
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({
      name: "project",
      private: true,
      type: "module",
      imports: { "#pigeonhole/*": "./dist/*" },
      dependencies: { pigeonhole: `file:${tarball}` },
      devDependencies,
    }),
  );
  run({ command: "npm", args: INSTALL, cwd: folder, env });
  // Tests of single modules import them as in the repository.
  symlinkSync(join(folder, "node_modules/pigeonhole/dist"), join(folder, "dist"), "junction");
  for (const path of TESTED) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
}

/** The better-sqlite3 that npm chose. */
export function readDriverVersion(folder: string): string {
  return (readJson(join(folder, "node_modules/better-sqlite3/package.json")) as Manifest).version;
}

const VITEST = ["node_modules/vitest/vitest.mjs", "run", "--maxWorkers=1"];
const KILLS = "5";

/** Kill test, mounts and what programs print; then the conformance suite on a file. */
export function runTests(folder: string, { path: command, env: own }: NodeVersion): void {
  const env = { ...own, PROCESS_TEST_KILLS: KILLS };
  run({ command, args: [...VITEST, "--exclude", "**/conformance-file.process.test.ts"], cwd: folder, env });
  run({ command, args: [...VITEST, "test/store/conformance-file.process.test.ts", "-t", STORE], cwd: folder, env });
}

/** To optimize SQLite takes a compiler more than a minute; here it only has to be compiled. */
const FAST_COMPILE = { CFLAGS: "-O0", CXXFLAGS: "-O0" };

/**
 * A project of `init` passes its own tests, with what its package.json lets npm install and compile, and nothing else. `flags`: of
 * `init`; by default the project brings Node 24 where this one is older.
 */
export function runScaffold(
  folder: string,
  tarball: string,
  { path: command, env }: NodeVersion,
  flags: string[] = [],
) {
  // Not in the folder: vitest would take the configuration there.
  const project = `${folder}-scaffolded${flags.join("")}`;
  const all = ["--yes", "--no-install", "--no-git", "--pigeonhole-version", `file:${tarball}`, ...flags];
  run({ command, args: [BIN, "init", project, ...all], cwd: folder, env });
  run({ command: "npm", args: INSTALL, cwd: project, env: { ...env, ...FAST_COMPILE } });
  run({ command: "npm", args: ["test"], cwd: project, env });
}

const BIN = "node_modules/pigeonhole/dist/cli/bin.js";

/** The folder of a better-sqlite3 that crashes on this Node; undefined where none is known. */
export function findWrongDriver({ major }: NodeVersion): string | undefined {
  if (Number(major) < 22) return join(ROOT, "node_modules/better-sqlite3");
  if (Number(major) < 24) return undefined;
  return join(fetchPackage("driver12", "better-sqlite3@12.11.1"), "better-sqlite3");
}

/** Throws unless a better-sqlite3 that crashes on this Node is refused: nothing may end by a signal. */
export function refuseWrongDriver(folder: string, wrong: string, { path: command, env }: NodeVersion): void {
  const driver = join(folder, "node_modules/better-sqlite3");
  rmSync(driver, { recursive: true });
  cpSync(wrong, driver, { recursive: true });
  const refusal = `better-sqlite3 ${readDriverVersion(folder)} `;
  const script =
    'import { createReceiver } from "pigeonhole"; createReceiver({ secrets: `whsec_${"x".repeat(43)}`, store: "wrong.db" });';
  for (const args of [
    ["--input-type=module", "--eval", script],
    [BIN, "doctor", "--port", "0"],
    [BIN, "inbox", "list", "--db", "package.json"],
  ]) {
    const { status, signal, output } = runAny({ command, args, cwd: folder, env });
    if (signal !== null || status === 0 || !output.includes(refusal) || !output.includes("ends the process on Node")) {
      throw new Error(`A wrong pair was not refused by ${args.join(" ")}: ${signal ?? status}\n${output}`);
    }
  }
}
