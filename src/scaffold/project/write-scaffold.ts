import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { mkdir, readdir, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { PigeonholeError } from "../../base/error.js";
import { folderNotMade, makeFolders } from "../../base/make-folders.js";
import type { PlannedFile } from "./plan-scaffold.js";

export interface WriteScaffoldOptions {
  /** Absolute path of the project's folder, which may exist. */
  folder: string;
  /**
   * Writes into a folder that is not empty: files of the same name are replaced, `.env` and others stay. @default false
   */
  overwrite?: boolean;
  /** Further work before the project appears, such as installing. It gets the temporary folder of the project. */
  prepare?: (folder: string) => Promise<void>;
  /** Aborts the work and leaves nothing behind. */
  signal?: AbortSignal;
}

/**
 * Writes a project: first into a folder beside the target, which is renamed only when everything is done. A failure or
 * an abort leaves nothing behind. Rejects with `folder_not_empty`, `invalid_argument` if no folder can be made, the
 * signal's reason, or the error of `prepare`.
 */
export async function writeScaffold(plan: readonly PlannedFile[], options: WriteScaffoldOptions): Promise<void> {
  const { folder, overwrite = false, prepare, signal } = options;
  checkFolder(folder, overwrite);
  const draft = join(dirname(folder), `.${basename(folder)}-${randomBytes(4).toString("hex")}`);
  const made: string[] = [];
  let isDone = false;
  try {
    // An error of the system would name the temporary folder.
    await orNotMade(folder, () => makeFolders(draft, { made }));
    for (const { path, content, mode } of plan) {
      signal?.throwIfAborted();
      await mkdir(dirname(join(draft, path)), { recursive: true });
      await writeFile(join(draft, path), content, { mode, flag: "wx" });
    }
    await prepare?.(draft);
    signal?.throwIfAborted();
    // Another program may have put something there meanwhile.
    checkFolder(folder, overwrite);
    await orNotMade(folder, () => moveOver(draft, folder));
    isDone = true;
  } finally {
    await rm(draft, { recursive: true, force: true, maxRetries: 3 });
    if (!isDone) await removeEmpty(made);
  }
}

/** Throws `folder_not_empty` for a folder with anything but `.git` in it, and `invalid_argument` for a file. */
export function checkFolder(folder: string, overwrite: boolean): void {
  const stat = statSync(folder, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isDirectory()) throw new PigeonholeError("invalid_argument", `${folder} is a file; name a folder.`);
  const names = readdirSync(folder).filter((name) => name !== ".git");
  if (names.length === 0 || overwrite) return;
  throw new PigeonholeError(
    "folder_not_empty",
    `${folder} is not empty. Name another folder, or replace files of the same name with --overwrite.`,
  );
}

async function orNotMade(folder: string, work: () => Promise<void> | void): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw folderNotMade(folder, error);
  }
}

/** Parent folders that were created for the project. One with other content stays. */
async function removeEmpty(made: readonly string[]): Promise<void> {
  for (const path of made.toReversed()) await rmdir(path).catch(() => undefined);
}

/** Folders whose old and new content must not be mixed. */
const WHOLE: ReadonlySet<string> = new Set(["node_modules", ".git"]);

/** Contains secrets that may exist nowhere else. */
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
