import { randomBytes } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { checkTarget } from "./check-target.js";
import type { PlannedFile } from "./plan-scaffold.js";

export interface WriteScaffoldOptions {
  /** Absolute path of the project's folder, which may exist. */
  folder: string;
  /** Writes into a folder that is not empty: files of the same name are replaced, `.env` and others stay. @default false */
  overwrite?: boolean;
  /** What else has to be done before the project may appear, such as installing; gets the folder that it is in so far. */
  prepare?: (folder: string) => Promise<void>;
  /** Stops the work and leaves nothing behind. */
  signal?: AbortSignal;
}

/**
 * Writes a project: first into a folder beside the target, which takes its place only when everything is done. Whatever fails
 * or is aborted before leaves nothing. Rejects with `folder_not_empty`, the signal's reason, or what `prepare` throws.
 */
export async function writeScaffold(plan: readonly PlannedFile[], options: WriteScaffoldOptions): Promise<void> {
  const { folder, overwrite = false, prepare, signal } = options;
  checkTarget(folder, overwrite);
  await mkdir(dirname(folder), { recursive: true });
  const draft = join(dirname(folder), `.${basename(folder)}-${randomBytes(4).toString("hex")}`);
  try {
    for (const { path, content, mode } of plan) {
      signal?.throwIfAborted();
      await mkdir(dirname(join(draft, path)), { recursive: true });
      await writeFile(join(draft, path), content, { mode, flag: "wx" });
    }
    await prepare?.(draft);
    signal?.throwIfAborted();
    // Somebody may have put something there meanwhile.
    checkTarget(folder, overwrite);
    await moveOver(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Folders whose old and new content would not fit together. */
const WHOLE: ReadonlySet<string> = new Set(["node_modules", ".git"]);

/** Holds secrets that somebody may have nowhere else. */
const NEVER_REPLACED = ".env";

async function moveOver(from: string, to: string): Promise<void> {
  if (!existsSync(to)) {
    await rename(from, to);
    return;
  }
  const isMerged = !WHOLE.has(basename(to)) && statSync(from).isDirectory() && statSync(to).isDirectory();
  if (isMerged) {
    for (const name of await readdir(from)) await moveOver(join(from, name), join(to, name));
    return;
  }
  if (basename(to) === NEVER_REPLACED) return;
  await rm(to, { recursive: true });
  await rename(from, to);
}
