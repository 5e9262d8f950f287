import { randomBytes } from "node:crypto";
import { mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { checkUnchanged, type FileChange } from "./plan-mount.js";

/**
 * Writes planned changes, each file as a whole. Rejects with `invalid_argument` before the first one if a file was
 * changed after the plan was made.
 */
export async function writeMount(folder: string, changes: readonly FileChange[]): Promise<void> {
  for (const change of changes) checkUnchanged(folder, change);
  for (const { path, before, after } of changes) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    const mode = before === undefined ? 0o644 : (await stat(file)).mode;
    const draft = `${file}.${randomBytes(4).toString("hex")}.tmp`;
    try {
      await writeFile(draft, after, { mode, flag: "wx" });
      await rename(draft, file);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }
}
