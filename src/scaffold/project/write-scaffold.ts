import { randomBytes } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { mkdir, readdir, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { PigeonholeError } from "../../base/error.js";
import { checkFolder } from "./check-folder.js";
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
    await makeFolders(draft, made).catch((error: unknown) => {
      // The error of the system names the temporary folder.
      throw cannotBeMade(folder, error);
    });
    for (const { path, content, mode } of plan) {
      signal?.throwIfAborted();
      await mkdir(dirname(join(draft, path)), { recursive: true });
      await writeFile(join(draft, path), content, { mode, flag: "wx" });
    }
    await prepare?.(draft);
    signal?.throwIfAborted();
    // Another program may have put something there meanwhile.
    checkFolder(folder, overwrite);
    await moveOver(draft, folder).catch((error: unknown) => {
      throw cannotBeMade(folder, error);
    });
    isDone = true;
  } finally {
    await rm(draft, { recursive: true, force: true, maxRetries: 3 });
    if (!isDone) await removeEmpty(made);
  }
}

/**
 * Creates a folder and its parents, and adds them to `made`. Not `mkdir` with `recursive`: under `/proc` that never
 * returns, since every new folder there fails with ENOENT.
 */
async function makeFolders(path: string, made: string[]): Promise<void> {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const parent = dirname(path);
  if (parent !== path) await makeFolders(parent, made);
  try {
    await mkdir(path);
    made.push(path);
  } catch (error) {
    // Another process may have created it meanwhile.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}

function cannotBeMade(folder: string, error: unknown): PigeonholeError {
  const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
  return new PigeonholeError(
    "invalid_argument",
    `The folder ${folder} cannot be created (${code}). Choose one where this user may write.`,
    { cause: error },
  );
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
