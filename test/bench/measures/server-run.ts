import { setTimeout as sleep } from "node:timers/promises";
import type { Contestant } from "../contestants/contestant.js";
import type { LoadCalls, LoadPlan } from "../load/load-process.js";
import type { LoadResult } from "../load/load-result.js";
import { startChild, type Child } from "../process/child.js";
import { compareThreads, readThreads, type CpuPerRequest } from "../process/cpu-time.js";
import { LOAD_CORE } from "../process/pinning.js";
import { ownRuntime } from "../process/runtime.js";
import { startServerProcess, type RunningServer, type ServerPlan } from "../process/server.js";

/** One timed interval on one server. */
export interface Interval extends LoadResult {
  requestsPerSecond: number;
  /** CPU of the server per accepted request, until the last event was handled. */
  cpu: CpuPerRequest;
  /** CPU time of the server per time of the interval and what was left to do after it; 1 is a whole core. */
  serverCpuShare: number;
  /** How long after the interval the last accepted event was handled. */
  drainMs: number;
}

/** A contestant's server process, kept alive through a run, idle while others are measured. */
export interface ServerRun {
  readonly contestant: Contestant;
  readonly pid: number;
  readonly port: number;
  readonly intervals: Interval[];
  /** Requests answered 200 since the start. */
  accepted: number;
  /** Runs of handlers that are settled in the store; known once the run has ended, undefined where none are. */
  settled: number | undefined;
  /** Runs one interval; `keep` false makes it a warm-up. */
  measure(load: Omit<LoadPlan, "port" | "scheme" | "poolSize">, keep: boolean): Promise<Interval>;
  end(): Promise<void>;
}

export type LoadGenerator = Child<LoadCalls>;

export function startLoadGenerator(): LoadGenerator {
  return startChild<LoadCalls>({ file: "load/load-process.ts", runtime: ownRuntime(), cores: LOAD_CORE });
}

const DRAIN_LIMIT_MS = 60_000;
const POLL_MS = 10;
/** Long enough for the done marks of the last events, and for a server that cannot be asked. */
const SETTLE_MS = 50;
/** A guess for the first pool, per second. */
const FIRST_RATE = 15_000;
/** Memory for requests is bounded: about 4.4 KB each. */
const MAX_POOL_SIZE = 300_000;
const POOL_MARGIN = 1.4;

/** Starts a contestant in a process of its own. */
export async function startServer(
  options: Omit<ServerPlan, "nodeFlags"> & {
    load: LoadGenerator;
    /** A directory for CPU profiles. */
    profile?: string | undefined;
    nodeFlags?: readonly string[];
  },
): Promise<ServerRun> {
  const { contestant, load, profile, nodeFlags = [] } = options;
  const { scheme, handles = true } = contestant;
  const profiling = profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`];
  const server = await startServerProcess({ ...options, nodeFlags: [...nodeFlags, ...profiling] });
  const { pid, port } = server;
  let bestRate = FIRST_RATE;

  const run: ServerRun = {
    contestant,
    pid,
    port,
    intervals: [],
    accepted: 0,
    settled: undefined,
    async measure(plan, keep) {
      const wanted = Math.ceil((plan.rate ?? bestRate * POOL_MARGIN) * plan.seconds) + plan.connections;
      const poolSize = Math.min(MAX_POOL_SIZE, wanted);
      await load.call("prepare", { ...plan, port, scheme, poolSize });
      const before = readThreads(pid);
      const result = await load.call("run", undefined);
      const endedAt = performance.now();
      run.accepted += result.accepted;
      if (handles) await drain(server, run.accepted);
      const drainMs = performance.now() - endedAt;
      await sleep(SETTLE_MS);
      const cpu = compareThreads(pid, { before, after: readThreads(pid), requests: result.accepted });
      const interval: Interval = {
        ...result,
        requestsPerSecond: result.answered / result.elapsedSeconds,
        cpu,
        serverCpuShare: (cpu.whole * result.accepted) / 1000 / (result.elapsedSeconds * 1000 + drainMs),
        drainMs,
      };
      bestRate = Math.max(bestRate, interval.requestsPerSecond);
      if (keep) run.intervals.push(interval);
      return interval;
    },
    async end() {
      run.settled = await server.end().catch((error: unknown) => {
        process.stderr.write(`${String(error)}\n`);
        return undefined;
      });
    },
  };
  return run;
}

/** Waits until so many runs of handlers have ended, where the server can be asked. */
async function drain(server: RunningServer, wanted: number): Promise<void> {
  const deadline = performance.now() + DRAIN_LIMIT_MS;
  for (;;) {
    const handled = await server.countHandled();
    if (handled === undefined || handled >= wanted || performance.now() > deadline) return;
    await sleep(POLL_MS);
  }
}
