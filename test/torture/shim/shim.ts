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

export const EIO = 5;

/** Which syncs fail in a process under the shim. */
export interface SyncFault {
  /** Error number of fsync and fdatasync; 0 when they succeed. */
  errno: number;
  /** How many of them still succeed first. */
  failsIn: number;
}

/** The file through which the syncs of a running process are made to fail. */
export class FaultFile {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
    writeFileSync(path, Buffer.alloc(8));
  }

  set({ errno, failsIn }: SyncFault): void {
    const file = openSync(this.path, "r+");
    writeSync(file, Buffer.from(Int32Array.of(errno, failsIn).buffer), 0, 8, 0);
    closeSync(file);
  }
}
