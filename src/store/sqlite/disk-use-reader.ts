import { stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { DiskUse } from "../figures.js";
import type { OpenFiles } from "./open-files.js";

/** The size of the database with its WAL, and what is free beside them; nothing is known of one in memory. */
async function readDiskUse(files: OpenFiles | undefined): Promise<DiskUse> {
  if (files === undefined) return { usedBytes: undefined, freeBytes: undefined };
  const { file, walPath } = files.data;
  const [sizes, disk] = await Promise.all([Promise.all([file, walPath].map(sizeOf)), statfs(dirname(walPath))]);
  return { usedBytes: sizes.reduce((sum, size) => sum + size, 0), freeBytes: disk.bavail * disk.bsize };
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file)).size;
}

/** Reads sizes of files, which go on being read while a store closes. */
export class DiskUseReader {
  /** Resolves when the last reading has ended. */
  ended: Promise<unknown> = Promise.resolve();

  /** Rejects as the file system does. */
  read(files: OpenFiles | undefined): Promise<DiskUse> {
    const reading = readDiskUse(files);
    this.ended = reading.catch(() => undefined);
    return reading;
  }
}
