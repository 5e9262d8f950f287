import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { onTestFinished } from "vitest";
import { type ChangedPackage, copyPackage } from "./package-copy.js";

/** A module of a copy of the package that is removed after the test. */
export async function loadCopyOf<Module>(changed: ChangedPackage, file: string): Promise<Module> {
  const copy = copyPackage(changed);
  onTestFinished(copy.remove);
  return (await import(/* @vite-ignore */ pathToFileURL(join(dirname(copy.entry), file)).href)) as Module;
}
