import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { INSTALL, type NodeVersion, ROOT, readJson, run, runAny } from "./programs.js";

/** Tests that run on what a user's project has installed. */
const TESTED = [
  "test/free-port.ts",
  "test/http",
  "test/process/kill.test.ts",
  "test/process/support",
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

/** A project of `init` passes its own tests. It begins with what the other project has installed, which saves compiling again. */
export function runScaffold(folder: string, tarball: string, { path: command, env }: NodeVersion): void {
  const bin = "node_modules/pigeonhole/dist/cli/bin.js";
  const flags = ["--yes", "--no-install", "--no-git", "--no-node-package", "--pigeonhole-version", `file:${tarball}`];
  run({ command, args: [bin, "init", "scaffolded", ...flags], cwd: folder, env });
  const project = join(folder, "scaffolded");
  cpSync(join(folder, "node_modules"), join(project, "node_modules"), { recursive: true, verbatimSymlinks: true });
  run({ command: "npm", args: [...INSTALL, "--ignore-scripts"], cwd: project, env });
  run({ command: "npm", args: ["test"], cwd: project, env });
}

/** Throws unless a better-sqlite3 that crashes on this Node is refused: nothing may end by a signal. */
export function refuseWrongDriver(folder: string, { path: command, env }: NodeVersion): void {
  const driver = join(folder, "node_modules/better-sqlite3");
  rmSync(driver, { recursive: true });
  cpSync(join(ROOT, "node_modules/better-sqlite3"), driver, { recursive: true });
  const script =
    'import { createReceiver } from "pigeonhole"; createReceiver({ secrets: `whsec_${"x".repeat(43)}`, store: "wrong.db" });';
  const bin = "node_modules/pigeonhole/dist/cli/bin.js";
  for (const args of [
    ["--input-type=module", "--eval", script],
    [bin, "doctor", "--port", "0"],
    [bin, "inbox", "list", "--db", "package.json"],
  ]) {
    const { status, signal, output } = runAny({ command, args, cwd: folder, env });
    if (signal !== null || status === 0 || !output.includes("pin better-sqlite3 to 12.11.1")) {
      throw new Error(`A wrong pair was not refused by ${args.join(" ")}: ${signal ?? status}\n${output}`);
    }
  }
}
