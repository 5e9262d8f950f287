import { spawn } from "node:child_process";
import { mkdirSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";
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
export async function fetchNode(major: string): Promise<NodeVersion> {
  const { platform, arch } = process;
  const system = platform === "win32" ? "win" : platform;
  const name = `node-${platform === "darwin" && arch === "arm64" ? "bin-" : ""}${system}-${arch}`;
  const folder = join(await fetchPackage(`node${major}`, `${name}@${major}`), name);
  const path = join(folder, platform === "win32" ? "bin/node.exe" : "bin/node");
  const found = `${dirname(path)}${delimiter}${process.env["PATH"] ?? ""}`;
  // The headers that node-gyp would fetch are in the package.
  return { major, path, env: { ...plainEnv(), PATH: found, npm_config_nodedir: folder } };
}

const fetched = new Map<string, Promise<string>>();

/** Installs a package into a folder of the cache that has this name, unless it is there; gives its node_modules. */
export function fetchPackage(name: string, spec: string): Promise<string> {
  const fetching = fetched.get(name) ?? installPackage(name, spec);
  fetched.set(name, fetching);
  return fetching;
}

async function installPackage(name: string, spec: string): Promise<string> {
  const folder = join(CACHE, name);
  const modules = join(folder, "node_modules");
  if (!existsSync(modules)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "private": true }');
    await run({ command: "npm", args: [...INSTALL, "--ignore-scripts", spec], cwd: folder });
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

/** Runs a program to its end; rejects with all that it printed when it fails. */
export async function run(input: RunInput): Promise<string> {
  const { status, signal, output } = await runAny(input);
  if (status === 0) return output;
  throw new Error(
    `${input.command} ${input.args.join(" ")} in ${input.cwd}: ${signal ?? `exit code ${status}`}\n${output}`,
  );
}

export interface Ended {
  status: number | null;
  signal: NodeJS.Signals | null;
  /** Standard output, then standard error. */
  output: string;
}

/** Runs a program to any end. */
export async function runAny({ command, args, cwd, env = plainEnv() }: RunInput): Promise<Ended> {
  const shell = process.platform === "win32" && command === "npm";
  const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], shell });
  const ended = new Promise<Omit<Ended, "output">>((done, fail) => {
    child.once("error", fail);
    child.once("close", (status, signal) => done({ status, signal }));
  });
  const [end, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { ...end, output: stdout + stderr };
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
