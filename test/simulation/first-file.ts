import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { EFFECT_TABLES } from "./handlers.js";
import type { Kit } from "./machine.js";
import type { SeedPlan } from "./plan.js";

/** One world of so many sees the first start of all, in which the store makes its tables. */
const FIRST_STARTS = 8;

const stoppedFiles = new WeakMap<Kit, Buffer>();

/**
 * The file that a world begins with: the user's own, or one that the package has worked on and closed, which opens
 * faster.
 */
export async function makeFirstFile(folder: string, { seed }: SeedPlan, kit: Kit): Promise<string> {
  const file = join(folder, "inbox.db");
  const known = seed % FIRST_STARTS === 0 ? undefined : stoppedFiles.get(kit);
  if (known !== undefined) {
    writeFileSync(file, known);
    return file;
  }
  new Database(file).exec(EFFECT_TABLES).close();
  if (seed % FIRST_STARTS === 0) return file;
  const store = kit.createSqliteStore({ file, thread: false });
  await store.open({ logger: silentLogger });
  await store.close();
  stoppedFiles.set(kit, readFileSync(file));
  return file;
}
