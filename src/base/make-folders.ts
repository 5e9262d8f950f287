import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { PigeonholeError } from "./error.js";

/**
 * Creates a folder and its parents, and adds each to `made`; an existing folder is left unchanged. Throws the system's
 * error. Not `mkdirSync` with `recursive`: under `/proc` that never returns, since every new folder there fails with
 * ENOENT.
 */
export function makeFolders(path: string, { mode = 0o777, made = [] }: { mode?: number; made?: string[] } = {}): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolders(parent, { mode, made });
  try {
    mkdirSync(path, { mode });
    made.push(path);
  } catch (error) {
    // Another process may have created it meanwhile.
    if (!isFolder(path)) throw error;
  }
}

/** The `invalid_argument` for a folder that cannot be made. */
export function folderNotMade(path: string, error: unknown): PigeonholeError {
  const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
  const message = `The folder ${path} cannot be created (${code}). Choose one where this user may write.`;
  return new PigeonholeError("invalid_argument", message, { cause: error });
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
