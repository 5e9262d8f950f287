import type { JobResult } from "./jobs.js";

/**
 * Figures of the lines at the end, added up over all scenarios but the controls, whose mistakes are there to be found.
 */
const QUOTED = ["states", "kills", "events", "lost", "twice"] as const;

/** What a long run came to. */
export class Summary {
  readonly #sums = new Map<string, JobResult>();
  #jobs = 0;

  add(result: JobResult): void {
    this.#jobs += 1;
    this.#sums.set(result.scenario, addUp(this.#sums.get(result.scenario), result));
  }

  get jobs(): number {
    return this.#jobs;
  }

  get violations(): number {
    return [...this.#sums.values()].reduce((count, { violations }) => count + violations.length, 0);
  }

  /** A line for each scenario, and at the end those that are to be quoted. */
  lines(seconds: number): string[] {
    const sums = [...this.#sums.values()];
    const simulation = this.#sums.get("simulation");
    return [
      ...sums.map(describe),
      ...(simulation === undefined ? [] : [describeSimulation(simulation)]),
      describeAll(sums, this.violations, seconds),
    ];
  }
}

function addUp(before: JobResult | undefined, result: JobResult): JobResult {
  if (before === undefined) return result;
  const counts = { ...before.counts };
  for (const [name, count] of Object.entries(result.counts)) {
    const known = counts[name] ?? 0;
    // A wait is not added up: the longest counts.
    counts[name] = name.endsWith("Ms") ? Math.max(known, count) : known + count;
  }
  return {
    scenario: result.scenario,
    counts,
    violations: [...before.violations, ...result.violations],
    failedSeeds: [...(before.failedSeeds ?? []), ...(result.failedSeeds ?? [])],
    ms: before.ms + result.ms,
    cpuMs: before.cpuMs + result.cpuMs,
  };
}

function describe({ scenario, counts, violations, ms }: JobResult): string {
  const figures = Object.entries(counts).map(([name, count]) => `${name} ${Math.round(count)}`);
  return `${violations.length === 0 ? "kept  " : "BROKEN"} ${scenario}: ${figures.join(", ")}; ${violations.length} violations, ${Math.round(ms / 1_000)} s`;
}

/** By CPU time, which is the same beside other work. */
function describeSimulation({ counts, failedSeeds = [], violations, cpuMs }: JobResult): string {
  const { seeds = 0 } = counts;
  const failed = failedSeeds.toSorted((a, b) => a - b).join(", ");
  const others = violations.length - failedSeeds.length;
  const parts = [
    `SIMULATION: ${seeds} seeds run`,
    `${((seeds * 1_000) / Math.max(cpuMs, 1)).toFixed(1)} a second of CPU time`,
    failed === "" ? "no seed failed" : `${failedSeeds.length} seeds failed: ${failed}`,
    ...(others === 0 ? [] : [`${others} other violations`]),
  ];
  return parts.join("; ");
}

function describeAll(sums: readonly JobResult[], violations: number, seconds: number): string {
  const counted = sums.filter(({ scenario }) => !scenario.startsWith("control"));
  const figures = QUOTED.map((name) => {
    const total = counted.reduce((sum, { counts }) => sum + (counts[name] ?? 0), 0);
    return `${total} ${name}`;
  });
  return `TORTURE: ${figures.join(", ")}, ${violations} violations, ${Math.round(seconds)} s`;
}
