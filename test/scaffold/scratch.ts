import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { makeFolder } from "../support/folder.js";

export const ROOT = resolve(import.meta.dirname, "../..");

/** A folder with these files; paths may have folders. */
export function makeFiles(files: Readonly<Record<string, string>>, folder = makeFolder()): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** Gives a folder this repository's packages, and this package as "pigeonhole". */
export function linkPackages(folder: string, names: readonly string[]): void {
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(ROOT, join(folder, "node_modules/pigeonhole"));
  for (const name of names) symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
}
