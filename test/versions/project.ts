import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { INSTALL, type NodeVersion, ROOT, fetchPackage, readJson, run, runAny } from "./programs.js";

/** Tests that run on what a user's project has installed. */
const TESTED = [
  "test/http",
  "test/process/kill-proof.ts",
  "test/process/kill.test.ts",
  "test/store/conformance",
  "test/store/conformance.ts",
  "test/store/conformance-file.process.test.ts",
  "test/store/layout-faults.ts",
  "test/store/sqlite-kind.ts",
  "test/process/quiet.test.ts",
  "test/support",
  "vitest.config.ts",
  "vitest.dist.config.ts",
];

/** What those need beside the package, and the declarations that `pigeonhole/postgres` refers to. */
const TEST_PACKAGES = [
  "@hono/node-server",
  "@types/node",
  "@types/pg",
  "express",
  "express4",
  "hono",
  "pg",
  "pino",
  "vitest",
];

interface Manifest {
  version: string;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

/** A fresh project in which npm has installed the tarball, under this Node. */
export async function makeProject(folder: string, tarball: string, { env }: NodeVersion): Promise<void> {
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
      imports: { "#pigeonhole/*": "./dist/.modules/*" },
      dependencies: { pigeonhole: `file:${tarball}` },
      devDependencies,
    }),
  );
  await run({ command: "npm", args: INSTALL, cwd: folder, env: { ...env, ...FAST_COMPILE } });
  // Tests of single modules import them as in the repository.
  cpSync(join(ROOT, "dist/.modules"), join(folder, "node_modules/pigeonhole/dist/.modules"), { recursive: true });
  symlinkSync(join(folder, "node_modules/pigeonhole/dist"), join(folder, "dist"), "junction");
  for (const path of TESTED) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
}

/** To optimize SQLite takes a compiler more than a minute; here it only has to be compiled. */
const FAST_COMPILE = { CFLAGS: "-O0", CXXFLAGS: "-O0" };

/** The better-sqlite3 that npm chose. */
export function readDriverVersion(folder: string): string {
  return (readJson(join(folder, "node_modules/better-sqlite3/package.json")) as Manifest).version;
}

const KILLS = "5";

/** The conformance suite and the mounts, which `npm test` runs on its own Node. */
const RUN_BY_NPM_TEST = ["test/store", "test/http"];

/** Kill test, what programs print, mounts, and the conformance suite on a file. */
export async function runTests(folder: string, { major, path: command, env }: NodeVersion): Promise<void> {
  const isOwn = major === process.versions.node.split(".")[0];
  const excluded = (isOwn ? RUN_BY_NPM_TEST : []).flatMap((path) => ["--exclude", `${path}/**`]);
  const args = [
    "node_modules/vitest/vitest.mjs",
    "run",
    "--config",
    "vitest.dist.config.ts",
    "--maxWorkers=1",
    ...excluded,
  ];
  await run({ command, args, cwd: folder, env: { ...env, PROCESS_TEST_KILLS: KILLS } });
}

/**
 * A project of `init` passes its own tests, with what its package.json lets npm install and compile, and nothing else.
 * `flags`: of `init`; by default the project brings Node 24 where this one is older.
 */
export async function runScaffold(
  folder: string,
  tarball: string,
  { path: command, env }: NodeVersion,
  flags: string[] = [],
): Promise<void> {
  // Not in the folder: vitest would take the configuration there.
  const project = `${folder}-scaffolded${flags.join("")}`;
  const all = ["--yes", "--no-install", "--no-git", "--pigeonhole-version", `file:${tarball}`, ...flags];
  await run({ command, args: [BIN, "init", project, ...all], cwd: folder, env });
  await run({ command: "npm", args: INSTALL, cwd: project, env: { ...env, ...FAST_COMPILE } });
  await run({ command: "npm", args: ["test"], cwd: project, env });
}

const BIN = "node_modules/pigeonhole/dist/cli/bin.js";

/** The folder of a better-sqlite3 that crashes on this Node; undefined where none is known. */
export async function findWrongDriver({ major }: NodeVersion): Promise<string | undefined> {
  if (Number(major) < 22) return join(ROOT, "node_modules/better-sqlite3");
  if (Number(major) < 24) return undefined;
  return join(await fetchPackage("driver12", "better-sqlite3@12.11.1"), "better-sqlite3");
}

/** Throws unless a better-sqlite3 that crashes on this Node is refused: nothing may end by a signal. */
export async function refuseWrongDriver(
  folder: string,
  wrong: string,
  { path: command, env }: NodeVersion,
): Promise<void> {
  const driver = join(folder, "node_modules/better-sqlite3");
  rmSync(driver, { recursive: true });
  cpSync(wrong, driver, { recursive: true });
  const refusal = `better-sqlite3 ${readDriverVersion(folder)} `;
  const script =
    'import { createReceiver } from "pigeonhole"; createReceiver({ secrets: `whsec_${"x".repeat(43)}`, store: "wrong.db" });';
  for (const args of [
    ["--input-type=module", "--eval", script],
    [BIN, "doctor"],
    [BIN, "inbox", "list", "--db", "package.json"],
  ]) {
    const { status, signal, output } = await runAny({ command, args, cwd: folder, env });
    if (signal !== null || status === 0 || !output.includes(refusal) || !output.includes("ends the process on Node")) {
      throw new Error(`A wrong pair was not refused by ${args.join(" ")}: ${signal ?? status}\n${output}`);
    }
  }
}
