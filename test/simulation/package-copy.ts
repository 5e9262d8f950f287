import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Kit } from "./machine.js";

const PROJECT = resolve(import.meta.dirname, "../..");

/** The built package. */
export const BUILT_ENTRY = join(PROJECT, "dist/index.js");

/** The same modules before they are bundled. */
const COMPILED = join(PROJECT, "dist/.tsc");

/** One place of the compiled code that is replaced; there must be exactly one. */
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

export interface ChangedPackage {
  name: string;
  changes: readonly PackageChange[];
}

/** The files of the compiled package that the changes are in, with them. Throws where a change has not one place. */
export function changeFiles({ name, changes }: ChangedPackage): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { file, from, to } of changes) {
    const text = texts.get(file) ?? readFileSync(join(COMPILED, file), "utf8");
    const matches = text.split(from).length - 1;
    if (matches !== 1) throw new Error(`Mutant "${name}": ${file} has ${matches} places that read ${from}`);
    texts.set(
      file,
      text.replace(from, () => to),
    );
  }
  return texts;
}

/** Copies the compiled package and makes the changes. */
export function copyPackage({ name, changes }: ChangedPackage): PackageCopy {
  const folder = mkdtempSync(join(tmpdir(), "pigeonhole-mutant-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    copyFileSync(join(PROJECT, "package.json"), join(folder, "package.json"));
    symlinkSync(join(PROJECT, "node_modules"), join(folder, "node_modules"));
    cpSync(COMPILED, join(folder, "dist"), { recursive: true, filter: (path) => !path.endsWith(".d.ts") });
    for (const [file, text] of changeFiles({ name, changes })) writeFileSync(join(folder, "dist", file), text);
    return { entry: join(folder, "dist/index.js"), remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Loads a copy into this process. */
export async function loadPackage({ entry }: PackageCopy): Promise<Kit> {
  const url = pathToFileURL(entry);
  // A client loads its contract with its first call, for which the time of the first world would not wait.
  await import(/* @vite-ignore */ new URL("client/create-client.js", url).href);
  return (await import(/* @vite-ignore */ url.href)) as Kit;
}
