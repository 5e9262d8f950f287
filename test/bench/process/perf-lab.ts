import { cpSync, existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Runtime } from "./runtime.js";
import type { Scratch } from "./scratch.js";

/** A copy of the folder with the prototype, from which its imports find our packages; or why there is none. */
export type PerfLab = { ok: true; folder: string; environment: Record<string, string> } | { ok: false; reason: string };

/** Looks for the prototype in the folder `source`, and copies it to where it can run. */
export function preparePerfLab(
  source: string | undefined,
  { scratch, runtime }: { scratch: Scratch; runtime: Runtime },
): PerfLab {
  if (source === undefined) return { ok: false, reason: "no prototype (--perf-lab PATH, or BENCH_PERF_LAB)" };
  if (!existsSync(join(source, "recv.mjs"))) return { ok: false, reason: `the prototype is not in ${source}` };
  const folder = scratch.file("perf-lab");
  cpSync(source, folder, { recursive: true });
  symlinkSync(join(runtime.home, "node_modules"), join(folder, "node_modules"));
  const data = join(folder, "data");
  mkdirSync(data);
  return { ok: true, folder, environment: { PERF_LAB: data } };
}
