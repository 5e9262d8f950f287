import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { printProgress } from "../table.js";

/** Kept between runs, outside of version control. */
const CACHE = fileURLToPath(new URL("../../../node_modules/.cache/pigeonhole-bench/", import.meta.url));

/** Building the SQLite binding takes more than a minute. */
const LIMIT_MS = 300_000;

/**
 * Installs packages that only the benchmark needs into a folder of the cache, with npm, unless they are there. Returns
 * the folder. Throws when npm fails.
 */
export function installPackages(wanted: {
  folder: string;
  /** Version ranges by name. */
  packages: Record<string, string>;
  /** The Node whose ABI native parts are built for. */
  node: string;
}): string {
  const { packages } = wanted;
  const folder = join(CACHE, wanted.folder);
  const allowScripts = Object.fromEntries(Object.keys(packages).map((name) => [name, true]));
  const manifest = JSON.stringify({ private: true, dependencies: packages, allowScripts });
  const marker = join(folder, "installed.json");
  if (existsSync(marker) && readFileSync(marker, "utf8") === manifest) return folder;

  printProgress(`installing ${Object.keys(packages).join(", ")} into ${folder}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), manifest);
  const args = ["install", "--no-audit", "--no-fund", "--no-package-lock", "--prefix", folder];
  const npm = spawnSync("npm", args, {
    cwd: folder,
    env: environmentOf(wanted.node),
    encoding: "utf8",
    timeout: LIMIT_MS,
  });
  if (npm.status !== 0) throw new Error(`npm install in ${folder} failed: ${npm.error?.message ?? npm.stderr.trim()}`);
  writeFileSync(marker, manifest);
  return folder;
}

/** That Node first in the path, and nothing of the npm script that runs the benchmark. */
function environmentOf(node: string): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("npm_"));
  return { ...Object.fromEntries(inherited), PATH: `${dirname(node)}${delimiter}${process.env["PATH"] ?? ""}` };
}
