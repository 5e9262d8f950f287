import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PigeonholeError } from "../../base/error.js";

/** One file before and after the change. */
export interface FileChange {
  /** In the app's folder. */
  path: string;
  /** Undefined for a new file. */
  before: string | undefined;
  after: string;
}

/**
 * Writes planned changes, each file as a whole. Rejects with `invalid_argument` before the first one if a file was
 * changed after the plan was made.
 */
export async function writeMount(folder: string, changes: readonly FileChange[]): Promise<void> {
  for (const change of changes) checkUnchanged(folder, change);
  for (const { path, before, after } of changes) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    const mode = before === undefined ? (path === ".env" ? 0o600 : 0o644) : (await stat(file)).mode;
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

/** Refuses to change a file that was changed after the plan was made. */
function checkUnchanged(folder: string, { path, before }: FileChange): void {
  const file = join(folder, path);
  const now = existsSync(file) ? readFileSync(file, "utf8") : undefined;
  if (now === before) return;
  throw new PigeonholeError("invalid_argument", `${file} has changed meanwhile; nothing was written. Run it again.`);
}
