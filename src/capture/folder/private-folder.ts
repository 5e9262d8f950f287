import { chmodSync, lstatSync, mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { PigeonholeError } from "../../base/error.js";

const OF_OTHERS = 0o077;

/**
 * The folder `captures` in `path`. Throws `invalid_capture` where either is a symbolic link, which a repository may
 * come with: files would be read and deleted wherever it leads.
 */
export function captureFolderIn(path: string): string {
  const folder = join(path, "captures");
  const link = [path, folder].find((each) => lstatSync(each, { throwIfNoEntry: false })?.isSymbolicLink() === true);
  if (link === undefined) return folder;
  throw new PigeonholeError(
    "invalid_capture",
    `${link} is a symbolic link, which is not followed. Name the folder that it leads to, or remove it.`,
  );
}

/**
 * Creates a folder and its parents, for this user only. An existing folder is left unchanged. Throws `invalid_argument`
 * if it cannot be created. Not `mkdirSync` with `recursive`: under `/proc` that never returns, since every new folder
 * there fails with ENOENT.
 */
export function makePrivateFolder(path: string): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) makePrivateFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it meanwhile.
    if (isFolder(path)) return;
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    throw new PigeonholeError(
      "invalid_argument",
      `The folder ${path} cannot be created (${code}). Choose one where this user may write.`,
      { cause: error },
    );
  }
}

/**
 * Removes the rights of other users from files and folders, as far as this user may. What a symbolic link leads to is
 * left unchanged: it may be anywhere.
 */
export function narrowModes(paths: readonly string[]): void {
  // Windows has no such modes.
  if (process.platform === "win32") return;
  for (const path of paths) {
    const seen = lstatSync(path, { throwIfNoEntry: false });
    if (seen === undefined || seen.isSymbolicLink() || (seen.mode & OF_OTHERS) === 0) continue;
    try {
      chmodSync(path, seen.mode & ~OF_OTHERS & 0o777);
    } catch {
      // It belongs to another user, or cannot be changed: permission to read is enough for what follows.
    }
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
