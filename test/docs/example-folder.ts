import { cpSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeFolder } from "../support/folder.js";

const ROOT = resolve(import.meta.dirname, "../..");

/** Puts the examples and the package into the folder, as a reader has them after a build. */
export function fillExampleFolder(folder: string): void {
  for (const part of ["examples", "package.json"]) cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  for (const part of ["node_modules", "dist"]) symlinkSync(join(ROOT, part), join(folder, part));
}

/** A new folder with the examples and the package, removed after the test. */
export function makeExampleFolder(): string {
  const folder = makeFolder();
  fillExampleFolder(folder);
  return folder;
}
