import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { onTestFinished } from "vitest";
import type * as postgres from "#pigeonhole/store/postgres/postgres-store.js";
import { copyPackage } from "../../simulation/package-copy.js";
import type { PostgresMutant } from "./mutants.js";

/** The store of a copy of the package that is removed after the test. */
export async function loadPostgresCopy(mutant: Pick<PostgresMutant, "name" | "changes">): Promise<typeof postgres> {
  const copy = copyPackage(mutant);
  onTestFinished(copy.remove);
  const path = join(dirname(copy.entry), "store/postgres/postgres-store.js");
  return (await import(/* @vite-ignore */ pathToFileURL(path).href)) as typeof postgres;
}
