import { copyFile, mkdir } from "node:fs/promises";
import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { usageError } from "../frame/command-error.js";

/** A packed pigeonhole that becomes part of the project, so that a Docker build, whose context it is, finds it. */
export interface Tarball {
  /** Absolute path. */
  from: string;
  /** In the project, with slashes. */
  to: string;
}

/**
 * The tarball that a version names, such as `file:../pigeonhole.tgz`, seen from the project. Without a version, the one
 * from which the package in `installed` was installed: a registry may not have that version. Undefined if none.
 */
export function findTarball(
  version: string | undefined,
  { folder, installed }: { folder: string; installed: string },
): Tarball | undefined {
  if (version === undefined) return tarballOf(installed);
  const named = TARBALL.exec(version)?.[1];
  if (named === undefined) return undefined;
  const from = resolve(folder, named);
  if (isFile(from)) return toVendor(from);
  throw usageError(`--pigeonhole-version: there is no file ${from}; the path is seen from the new project's folder.`);
}

export async function copyTarball({ from, to }: Tarball, folder: string): Promise<void> {
  await mkdir(dirname(join(folder, to)), { recursive: true });
  await copyFile(from, join(folder, to));
}

const TARBALL = /^file:(.+\.t(?:ar\.)?gz)$/;

/** Read from the package.json above `node_modules`, which npx writes, too. */
function tarballOf(installed: string): Tarball | undefined {
  if (basename(dirname(installed)) !== "node_modules") return undefined;
  const owner = dirname(dirname(installed));
  const named = TARBALL.exec(readDependency(join(owner, "package.json")) ?? "")?.[1];
  const from = named === undefined ? undefined : resolve(owner, named);
  return from === undefined || !isFile(from) ? undefined : toVendor(from);
}

function readDependency(manifest: string): string | undefined {
  if (!isFile(manifest)) return undefined;
  const { dependencies, devDependencies } = JSON.parse(readFileSync(manifest, "utf8")) as Manifest;
  return dependencies?.["pigeonhole"] ?? devDependencies?.["pigeonhole"];
}

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function toVendor(from: string): Tarball {
  return { from, to: `vendor/${basename(from)}` };
}
