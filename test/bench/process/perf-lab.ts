import { cpSync, existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Runtime } from "./runtime.js";
import type { Scratch } from "./scratch.js";

/** A copy of the folder with the prototype, from which its imports find our packages; or why there is none. */
export type PerfLab = { ok: true; folder: string; environment: Record<string, string> } | { ok: false; reason: string };

const BESIDE = fileURLToPath(new URL("../../../../shared/perf-lab", import.meta.url));

/**
 * Looks for the prototype at `path`, by default in `../shared/perf-lab` beside the checkout, and copies it to where it
 * can run.
 */
export function preparePerfLab(
  path: string | undefined,
  { scratch, runtime }: { scratch: Scratch; runtime: Runtime },
): PerfLab {
  const source = path ?? BESIDE;
  if (!existsSync(join(source, "recv.mjs"))) {
    return { ok: false, reason: `the prototype is not in ${source} (--perf-lab PATH, or BENCH_PERF_LAB)` };
  }
  const folder = scratch.file("perf-lab");
  cpSync(source, folder, { recursive: true });
  symlinkSync(join(runtime.home, "node_modules"), join(folder, "node_modules"));
  const data = join(folder, "data");
  mkdirSync(data);
  return { ok: true, folder, environment: { PERF_LAB: data } };
}
