import { stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { DiskUse } from "../figures.js";
import type { OpenFiles } from "./open-files.js";

/** The size of the database with its WAL, and what is free beside them; nothing is known of one in memory. */
export async function readDiskUse(files: OpenFiles | undefined): Promise<DiskUse> {
  if (files === undefined) return { usedBytes: undefined, freeBytes: undefined };
  const { file, walPath } = files.data;
  const [sizes, disk] = await Promise.all([Promise.all([file, walPath].map(sizeOf)), statfs(dirname(walPath))]);
  return { usedBytes: sizes.reduce((sum, size) => sum + size, 0), freeBytes: disk.bavail * disk.bsize };
}

/** 0 for a WAL that a store which closes has removed. */
async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0;
}
