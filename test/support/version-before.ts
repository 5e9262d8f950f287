import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** The last commit before a change that versions on both sides of it have to bear. */
const COMMITS = {
  /** All accepted work has a row. */
  workWithoutRow: "2564016e91c8a944b595049859f330055f738932",
  /** All bodies on PostgreSQL are in one table. */
  bodySlots: "099cf70d425fb2d30cadcda59ac6de9b09a2d6bc",
} as const;

export type Change = keyof typeof COMMITS;

const PROJECT = resolve(import.meta.dirname, "../..");

/** A build of the version before, in a folder of its own. */
export interface VersionBefore {
  dist: string;
  /** The receiver process of its own tests. */
  receiver: string;
  remove: () => void;
}

/** False in a checkout without history. */
export function hasVersionBefore(): boolean {
  try {
    execFileSync("git", ["rev-list", "--max-count=1", ...Object.values(COMMITS)], { cwd: PROJECT, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Builds its code as it was, with the packages of this version. */
export function buildVersionBefore(change: Change): VersionBefore {
  const folder = mkdtempSync(join(tmpdir(), "pigeonhole-before-"));
  const parts = ["src", "package.json", "tsconfig.json", "tsconfig.build.json", "test/process"];
  const archive = execFileSync("git", ["archive", COMMITS[change], ...parts], { cwd: PROJECT, maxBuffer: 2 ** 27 });
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  symlinkSync(join(PROJECT, "node_modules"), join(folder, "node_modules"));
  const options = ["--noCheck", "--declaration", "false", "--sourceMap", "false", "--incremental", "false"];
  const compiler = join(PROJECT, "node_modules/typescript/bin/tsc");
  const withoutInfo = ["--tsBuildInfoFile", "null"];
  execFileSync(process.execPath, [compiler, "--project", "tsconfig.build.json", ...options, ...withoutInfo], {
    cwd: folder,
  });
  return {
    dist: join(folder, "dist"),
    receiver: join(folder, "test/process/support/receiver-process.mjs"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
