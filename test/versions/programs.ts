import { spawnSync } from "node:child_process";
import { mkdirSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";

export const ROOT = resolve(import.meta.dirname, "../..");

/** Programs that are fetched once: a Node of each major, and compilers. */
const CACHE = join(ROOT, "node_modules/.cache/versions");

/** A Node of one major. */
export interface NodeVersion {
  major: string;
  /** The program. */
  path: string;
  /** For programs that look for Node in PATH, npm and what it compiles among them. */
  env: NodeJS.ProcessEnv;
}

/** The newest Node of the major, from npm. */
export function fetchNode(major: string): NodeVersion {
  const { platform, arch } = process;
  const system = platform === "win32" ? "win" : platform;
  const name = `node-${platform === "darwin" && arch === "arm64" ? "bin-" : ""}${system}-${arch}`;
  const folder = join(fetchPackage(`node${major}`, `${name}@${major}`), name);
  const path = join(folder, platform === "win32" ? "bin/node.exe" : "bin/node");
  const found = `${dirname(path)}${delimiter}${process.env["PATH"] ?? ""}`;
  // The headers that node-gyp would fetch are in the package.
  return { major, path, env: { ...plainEnv(), PATH: found, npm_config_nodedir: folder } };
}

/** Installs a package into a folder of the cache that has this name, unless it is there; gives its node_modules. */
export function fetchPackage(name: string, spec: string): string {
  const folder = join(CACHE, name);
  const modules = join(folder, "node_modules");
  if (!existsSync(modules)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "private": true }');
    run({ command: "npm", args: [...INSTALL, "--ignore-scripts", spec], cwd: folder });
  }
  return modules;
}

export const INSTALL = ["install", "--no-audit", "--no-fund", "--loglevel=error"];

export interface RunInput {
  command: string;
  args: readonly string[];
  cwd: string;
  env?: NodeJS.ProcessEnv;
}

/** Runs a program to its end; throws with all that it said when it fails. */
export function run(input: RunInput): string {
  const { status, signal, output } = runAny(input);
  if (status === 0) return output;
  throw new Error(
    `${input.command} ${input.args.join(" ")} in ${input.cwd}: ${signal ?? `exit code ${status}`}\n${output}`,
  );
}

/** Runs a program to any end. */
export function runAny({ command, args, cwd, env = plainEnv() }: RunInput) {
  const { status, signal, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    shell: process.platform === "win32" && command === "npm",
  });
  if (error !== undefined) throw error;
  return { status, signal, output: stdout + stderr };
}

export function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"));
}

/** What npm tells the scripts that it runs would also be told to the npm of other projects. */
function plainEnv(): NodeJS.ProcessEnv {
  const own =
    /^(?:npm_(?:config_(?!cache|registry|userconfig)|package_|lifecycle_|command)|VITEST|NODE_OPTIONS|FORCE_COLOR)/;
  return { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name))), NO_COLOR: "1" };
}
