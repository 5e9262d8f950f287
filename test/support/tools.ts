import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_EMBEDDED, chosenEmbedded, findEmbedded } from "./embedded-postgres.js";

/** Whether the program is there; what it answers to `--version` does not matter. */
export function isInstalled(tool: string): boolean {
  return spawnSync(tool, ["--version"], { stdio: "ignore" }).error === undefined;
}

/** Whether system calls can be traced: strace is there, and the machine lets it. */
export function canTrace(): boolean {
  return spawnSync("strace", ["-qq", "-e", "trace=none", "true"]).status === 0;
}

/**
 * Whether programs can run in a terminal: `script` of util-linux makes one; that of macOS and BSD takes other
 * arguments.
 */
export function hasTerminal(): boolean {
  return spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") ?? false;
}

const CHROMIUM = [
  // The same browser without a window, which needs two thirds of the processor's time.
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** The browser that PIGEONHOLE_CHROMIUM names, or one at a usual place; undefined when there is none. */
export function findChromium(): string | undefined {
  const named = process.env["PIGEONHOLE_CHROMIUM"];
  return [...(named === undefined ? [] : [named]), ...CHROMIUM].find((path) => existsSync(path));
}

/** Where Debian keeps the programs of each version of PostgreSQL. */
const POSTGRES = "/usr/lib/postgresql";

/** The folder with the programs of the newest PostgreSQL of Debian; undefined when there is none. */
function findDebianPrograms(): string | undefined {
  if (!existsSync(POSTGRES)) return undefined;
  const versions = readdirSync(POSTGRES).toSorted((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(POSTGRES, version, "bin")).find((bin) => existsSync(join(bin, "initdb")));
}

/** The folder with the programs that tests start: of the version asked for, of Debian, or of npm. */
export function findPostgresPrograms(): string | undefined {
  const chosen = chosenEmbedded();
  return chosen === undefined ? (findDebianPrograms() ?? findEmbedded(DEFAULT_EMBEDDED)) : findEmbedded(chosen);
}

/** The URL of the server that tests are to take; undefined when they start one. */
export function givenPostgresUrl(): string | undefined {
  const given = process.env["PIGEONHOLE_TEST_POSTGRES"];
  return given && chosenEmbedded() === undefined ? given : undefined;
}

/** Whether tests have a server, one that is given or one that they start. */
export function hasPostgres(): boolean {
  return givenPostgresUrl() !== undefined || findPostgresPrograms() !== undefined;
}

/** Whether tests are skipped whose server, program or browser is not there; in CI they fail. */
export function isSkippedWithout(found: unknown): boolean {
  return !found && process.env["CI"] === undefined;
}

/** Whether this user may read and write every file. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}
