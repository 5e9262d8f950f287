import { chmodSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import { PigeonholeError } from "../../base/error.js";
import { folderNotMade, makeFolders } from "../../base/make-folders.js";

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

/** Creates a folder and its parents, for this user only. Throws `invalid_argument` if it cannot be created. */
export function makePrivateFolder(path: string): void {
  try {
    makeFolders(path, { mode: 0o700 });
  } catch (error) {
    throw folderNotMade(path, error);
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

/** Writes a file that only its owner can read. A reader sees the whole old content or the whole new content. */
export async function writePrivateFile(path: string, content: string): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    await writeFile(draft, content, { mode: 0o600, flag: "wx" });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    // The error would name the temporary file, which the user does not know; on a full disk it names none.
    if (error instanceof Error && "code" in error) Object.assign(error, { path });
    throw error;
  }
}
