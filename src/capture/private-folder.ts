import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { PigeonholeError } from "../base/error.js";

/**
 * Makes a folder and those above it, for this user only; one that is there is left as it is. Throws `invalid_argument` where none
 * can be made. Not `mkdirSync` with `recursive`: that never ends under `/proc`, which says of every new folder that it does not exist.
 */
export function makePrivateFolder(path: string): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) makePrivateFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (isFolder(path)) return;
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    throw new PigeonholeError(
      "invalid_argument",
      `The folder ${path} cannot be made (${code}). Choose one where this user may write.`,
      { cause: error },
    );
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
