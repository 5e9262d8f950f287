import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Scratch } from "./scratch.js";

/** Environments of processes whose fsync takes longer, or why there are none. */
export type SlowDisk =
  | { ok: true; environment(addedMs: number): Record<string, string> }
  | { ok: false; reason: string };

const source = fileURLToPath(new URL("slow-disk.c", import.meta.url));

/** Compiles the shim with `cc`. */
export function buildSlowDisk(scratch: Scratch): SlowDisk {
  if (process.platform !== "linux") return { ok: false, reason: "the LD_PRELOAD shim needs Linux" };
  const library = scratch.file("slow-disk.so");
  const built = spawnSync("cc", ["-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], { encoding: "utf8" });
  if (built.error) return { ok: false, reason: `cc cannot be run (${built.error.message})` };
  if (built.status !== 0) return { ok: false, reason: `cc failed: ${built.stderr.trim()}` };
  return {
    ok: true,
    environment: (addedMs) => ({ LD_PRELOAD: library, BENCH_FSYNC_MICROS: String(Math.round(addedMs * 1000)) }),
  };
}
