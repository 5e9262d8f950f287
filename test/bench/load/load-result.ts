import { readMainThread } from "../process/cpu-time.js";
import { percentile } from "../stats.js";

/** What came of one timed interval. */
export interface LoadResult {
  /** Answers with status 200 inside the interval. */
  answered: number;
  /** Answers with status 200 in all, with those that came after the interval. */
  accepted: number;
  /** Answers with another status, and lost connections, by what they were. */
  errors: Record<string, number>;
  elapsedSeconds: number;
  p50: number;
  p99: number;
  max: number;
  /**
   * CPU time of the load generator over the interval; near 1 means that it was the limit. NaN for a paced load, which
   * spins.
   */
  loadCpuShare: number;
  /**
   * Share of the interval in which the load generator wanted its core and another program had it. It should be near 0;
   * NaN where the system does not tell.
   */
  loadWaitShare: number;
  /** True when the requests ran out before the time did. */
  poolRanOut: boolean;
}

/** Collects latencies and counts of one interval. */
export function createLoadRecorder(capacity: number) {
  const latencies = new Float64Array(capacity);
  const errors: Record<string, number> = {};
  const cpuStart = process.cpuUsage();
  const waitStart = readMainThread()?.waitedMicros ?? Number.NaN;
  const start = performance.now();
  let recorded = 0;
  let answered = 0;
  let accepted = 0;
  let elapsed: { ms: number; cpuMicros: number; waitedMicros: number } | undefined;
  return {
    start,
    answer(status: number, startedAt: number): void {
      if (status !== 200) {
        this.fail(`status ${status}`);
        return;
      }
      accepted += 1;
      if (elapsed) return;
      answered += 1;
      latencies[recorded] = performance.now() - startedAt;
      recorded += 1;
    },
    fail(reason: string): void {
      errors[reason] = (errors[reason] ?? 0) + 1;
    },
    /** Ends the interval; later answers count as accepted only. */
    endInterval(): void {
      const cpu = process.cpuUsage(cpuStart);
      const waitedMicros = (readMainThread()?.waitedMicros ?? Number.NaN) - waitStart;
      elapsed ??= { ms: performance.now() - start, cpuMicros: cpu.user + cpu.system, waitedMicros };
    },
    finish(poolRanOut: boolean): LoadResult {
      this.endInterval();
      const ms = elapsed?.ms ?? Number.NaN;
      const sorted = latencies.subarray(0, recorded).toSorted();
      return {
        answered,
        accepted,
        errors,
        elapsedSeconds: ms / 1000,
        p50: percentile(sorted, 0.5),
        p99: percentile(sorted, 0.99),
        max: sorted.at(-1) ?? Number.NaN,
        loadCpuShare: (elapsed?.cpuMicros ?? Number.NaN) / 1000 / ms,
        loadWaitShare: (elapsed?.waitedMicros ?? Number.NaN) / 1000 / ms,
        poolRanOut,
      };
    },
  };
}
