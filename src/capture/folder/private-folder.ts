import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { PigeonholeError } from "../../base/error.js";

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

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
