import type { Facts } from "../goals.js";
import type { BenchOptions } from "../options.js";
import type { PerfLab } from "../process/perf-lab.js";
import type { Runtime } from "../process/runtime.js";
import type { Scratch } from "../process/scratch.js";
import type { LoadGenerator } from "./server-run.js";

/** What every measure gets. */
export interface MeasureContext {
  options: BenchOptions;
  scratch: Scratch;
  load: LoadGenerator;
  /** The Node of everything that is measured. */
  runtime: Runtime;
  perfLab: PerfLab;
  facts: Facts;
}
