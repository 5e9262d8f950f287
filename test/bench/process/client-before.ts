import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { printProgress } from "../table.js";
import type { Scratch } from "./scratch.js";

/** The last commit whose client had 13 operations. */
const COMMIT = "5b2c94f46b90b70b662f14eb0f0bb31a6d8d2d9d";

const CHECKOUT = fileURLToPath(new URL("../../../", import.meta.url));

/** Builds the package as it was with 13 operations, with today's packages. Throws in a checkout without history. */
export function buildClientBefore(scratch: Scratch): string {
  printProgress("building the client of 13 operations");
  const folder = scratch.file("client-before");
  mkdirSync(folder);
  const parts = ["src", "package.json", "tsconfig.json", "tsconfig.build.json"];
  const archive = execFileSync("git", ["archive", COMMIT, ...parts], { cwd: CHECKOUT, maxBuffer: 2 ** 27 });
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  symlinkSync(join(CHECKOUT, "node_modules"), join(folder, "node_modules"));
  const compiler = join(CHECKOUT, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [compiler, "--project", "tsconfig.build.json", "--sourceMap", "false"], {
    cwd: folder,
  });
  return folder;
}
