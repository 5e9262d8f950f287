import { copyFile, mkdir } from "node:fs/promises";
import { statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { usageError } from "../frame/command-error.js";

/** A packed pigeonhole that becomes part of the project, so that a Docker build, whose context it is, finds it. */
export interface Tarball {
  /** Absolute path. */
  from: string;
  /** In the project, with slashes. */
  to: string;
}

/** The tarball that a version names, such as `file:../pigeonhole.tgz`, seen from the project; undefined if none. */
export function findTarball(version: string | undefined, folder: string): Tarball | undefined {
  const named = /^file:(.+\.t(?:ar\.)?gz)$/.exec(version ?? "")?.[1];
  if (named === undefined) return undefined;
  const from = resolve(folder, named);
  if (statSync(from, { throwIfNoEntry: false })?.isFile() === true) return { from, to: `vendor/${basename(from)}` };
  throw usageError(`--pigeonhole-version: there is no file ${from}; the path is seen from the new project's folder.`);
}

export async function copyTarball({ from, to }: Tarball, folder: string): Promise<void> {
  await mkdir(dirname(join(folder, to)), { recursive: true });
  await copyFile(from, join(folder, to));
}
