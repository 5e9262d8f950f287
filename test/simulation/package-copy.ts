import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Kit } from "./machine.js";

const PROJECT = resolve(import.meta.dirname, "../..");

/** The built package. */
export const BUILT_ENTRY = join(PROJECT, "dist/index.js");

/** One place of the built code that is replaced; there must be exactly one. */
export interface PackageChange {
  file: string;
  from: string;
  to: string;
}

/** A copy of the built package with changes in it. `remove` deletes it. */
export interface PackageCopy {
  /** Path of its `index.js`. */
  entry: string;
  remove: () => void;
}

interface ChangedPackage {
  name: string;
  changes: readonly PackageChange[];
}

/** The files of the built package that the changes are in, with them. Throws where a change has not its one place. */
export function changeFiles({ name, changes }: ChangedPackage): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { file, from, to } of changes) {
    const text = texts.get(file) ?? readCode(join(PROJECT, "dist", file));
    const matches = text.split(from).length - 1;
    if (matches !== 1) throw new Error(`Mutant "${name}": ${file} has ${matches} places that read ${from}`);
    texts.set(
      file,
      text.replace(from, () => to),
    );
  }
  return texts;
}

/** Copies the built package and makes the changes. */
export function copyPackage({ name, changes }: ChangedPackage): PackageCopy {
  const folder = mkdtempSync(join(tmpdir(), "pigeonhole-mutant-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    copyFileSync(join(PROJECT, "package.json"), join(folder, "package.json"));
    symlinkSync(join(PROJECT, "node_modules"), join(folder, "node_modules"));
    copyCode(join(PROJECT, "dist"), join(folder, "dist"));
    for (const [file, text] of changeFiles({ name, changes })) writeFileSync(join(folder, "dist", file), text);
    return { entry: join(folder, "dist/index.js"), remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Loads a copy into this process. */
export async function loadPackage({ entry }: PackageCopy): Promise<Kit> {
  return (await import(/* @vite-ignore */ pathToFileURL(entry).href)) as Kit;
}

/** Without the source map, which belongs to a file that is not copied. */
function readCode(path: string): string {
  return readFileSync(path, "utf8").replace(/^\/\/# sourceMappingURL=.*$/m, "");
}

function copyCode(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory() && entry.name !== "page") copyCode(source, target);
    if (!entry.name.endsWith(".js")) continue;
    writeFileSync(target, readCode(source));
  }
}
