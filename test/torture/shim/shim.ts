import { spawnSync } from "node:child_process";
import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SOURCE = fileURLToPath(new URL("torture-shim.c", import.meta.url));

/** Why there is no shim on this machine; undefined where there is one. Without it nothing can be recorded. */
export function findShimObstacle(): string | undefined {
  if (process.platform !== "linux") return "the LD_PRELOAD shim needs Linux";
  const found = spawnSync("cc", ["--version"], { stdio: "ignore" });
  return found.error === undefined ? undefined : `cc cannot be run (${found.error.message})`;
}

/** Compiles the shim into the folder and returns its path. */
export function buildShim(folder: string): string {
  const library = join(folder, "torture-shim.so");
  const built = spawnSync("cc", ["-O1", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"], { encoding: "utf8" });
  if (built.status !== 0) throw new Error(`cc failed: ${built.error?.message ?? built.stderr}`);
  return library;
}

export const ENOSPC = 28;
export const EIO = 5;
export const EROFS = 30;

/** What goes wrong in a process under the shim. Everything is 0 when nothing does. */
export interface DiskFaults {
  /** Error number of writes. */
  writeErrno: number;
  /** Error number of fsync and fdatasync. */
  syncErrno: number;
  /** Error number of opening for writing, truncating, unlinking and renaming. */
  changeErrno: number;
  /** How many of the calls above still succeed first. */
  failsIn: number;
  /** By how much every sync takes longer. */
  syncMicros: number;
  /** How far the wall clock is ahead. */
  clockMillis: number;
  /** Bytes that can be written before `writeErrno` shows; without limit below 0. */
  bytesLeft: number;
}

const SIZE = 72;

/** The file through which the faults of a running process are changed. */
export class FaultFile {
  readonly path: string;
  #faults: Partial<DiskFaults> = {};

  constructor(path: string) {
    this.path = path;
    writeFileSync(path, Buffer.alloc(SIZE));
    this.set({});
  }

  /** The given faults stay until the next call; the clock keeps its place unless it is named. */
  set(faults: Partial<DiskFaults>): void {
    this.#faults = { clockMillis: this.#faults.clockMillis ?? 0, ...faults };
    const { writeErrno = 0, syncErrno = 0, changeErrno = 0, failsIn = 0 } = this.#faults;
    const { syncMicros = 0, clockMillis = 0, bytesLeft = -1 } = this.#faults;
    const bytes = Buffer.alloc(SIZE);
    for (const [index, value] of [writeErrno, syncErrno, changeErrno, failsIn].entries()) {
      bytes.writeInt32LE(value, index * 4);
    }
    for (const [index, value] of [syncMicros, clockMillis, bytesLeft].entries()) {
      bytes.writeBigInt64LE(BigInt(value), 16 + index * 8);
    }
    const file = openSync(this.path, "r+");
    try {
      writeSync(file, bytes, 0, SIZE, 0);
    } finally {
      closeSync(file);
    }
  }
}
