import { setTimeout as sleep } from "node:timers/promises";
import type { Contestant } from "../contestants/catalogue.js";
import type { LoadCalls, LoadPlan } from "../load/load-process.js";
import type { LoadResult } from "../load/load-result.js";
import { startChild, type Child } from "../process/child.js";
import { countDoneMarks } from "./count-done-marks.js";
import type { ServerCalls } from "../process/server-process.js";
import { LOAD_CORE } from "../process/pinning.js";

/** One timed interval on one server. */
export interface Interval extends LoadResult {
  requestsPerSecond: number;
  /** Server CPU per accepted request in microseconds, all threads, until the last event was handled. */
  cpuMicros: number;
  /** The main thread's part; NaN where the system does not tell. */
  mainMicros: number;
  /** CPU time of the server per time of the interval and what was left to do after it; 1 is a whole core. */
  serverCpuShare: number;
  /** How long after the interval the last accepted event was handled. */
  drainMs: number;
}

/** A contestant's server process, kept alive through a run, idle while others are measured. */
export interface ServerRun {
  readonly contestant: Contestant;
  readonly databaseFile: string;
  readonly intervals: Interval[];
  /** Requests answered 200 since the start, and events handled; undefined where none are. */
  accepted: number;
  handled: number | undefined;
  /** Done marks that this run left in a database of ours; known once it has ended. */
  doneMarks: number | undefined;
  /** Runs one interval; `keep` false makes it a warm-up. */
  measure(load: Omit<LoadPlan, "port" | "scheme" | "poolSize">, keep: boolean): Promise<Interval>;
  end(): Promise<void>;
}

export type LoadGenerator = Child<LoadCalls>;

export function startLoadGenerator(): LoadGenerator {
  return startChild<LoadCalls>({ file: new URL("../load/load-process.ts", import.meta.url), cores: LOAD_CORE });
}

const START_LIMIT_MS = 30_000;
const DRAIN_LIMIT_MS = 60_000;
const POLL_MS = 10;
/** A guess for the first pool, per second. */
const FIRST_RATE = 15_000;
/** Memory for requests is bounded: about 4.4 KB each. */
const LARGEST_POOL = 300_000;
const POOL_MARGIN = 1.4;

/** Starts a contestant in a process of its own. */
export async function startServer(options: {
  contestant: Contestant;
  databaseFile: string;
  cores: string;
  load: LoadGenerator;
  env?: Record<string, string>;
  /** A directory for CPU profiles. */
  profile?: string | undefined;
}): Promise<ServerRun> {
  const { contestant, databaseFile, load } = options;
  const marksBefore = countDoneMarks(databaseFile) ?? 0;
  const child = startChild<ServerCalls>({
    file: new URL("../process/server-process.ts", import.meta.url),
    cores: options.cores,
    env: options.env ?? {},
    nodeFlags: options.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${options.profile}`],
  });
  const { port } = await child
    .call("start", { name: contestant.name, databaseFile }, START_LIMIT_MS)
    .catch(async (error: unknown) => {
      await child.end();
      throw error;
    });
  let bestRate = FIRST_RATE;

  const run: ServerRun = {
    contestant,
    databaseFile,
    intervals: [],
    accepted: 0,
    handled: undefined,
    doneMarks: undefined,
    async measure(plan, keep) {
      const wanted = Math.ceil((plan.rate ?? bestRate * POOL_MARGIN) * plan.seconds) + plan.connections;
      const poolSize = Math.min(LARGEST_POOL, wanted);
      await load.call("prepare", { ...plan, port, scheme: contestant.scheme, poolSize });
      const before = await child.call("cpuTime", undefined);
      const result = await load.call("run", undefined);
      const endedAt = performance.now();
      run.accepted += result.accepted;
      run.handled = await drain(child, run.accepted);
      const drainMs = performance.now() - endedAt;
      const after = await child.call("cpuTime", undefined);
      const interval: Interval = {
        ...result,
        requestsPerSecond: result.answered / result.elapsedSeconds,
        cpuMicros: (after.process - before.process) / result.accepted,
        mainMicros: ((after.mainThread ?? Number.NaN) - (before.mainThread ?? Number.NaN)) / result.accepted,
        serverCpuShare: (after.process - before.process) / 1000 / (result.elapsedSeconds * 1000 + drainMs),
        drainMs,
      };
      bestRate = Math.max(bestRate, interval.requestsPerSecond);
      if (keep) run.intervals.push(interval);
      return interval;
    },
    async end() {
      await child.call("stop", undefined).catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
      await child.end();
      const marks = countDoneMarks(databaseFile);
      run.doneMarks = marks === undefined ? undefined : marks - marksBefore;
    },
  };
  return run;
}

/** Waits until all accepted events were handled; returns how many were, or undefined where nothing handles any. */
async function drain(child: Child<ServerCalls>, accepted: number): Promise<number | undefined> {
  const deadline = performance.now() + DRAIN_LIMIT_MS;
  for (;;) {
    const handled = await child.call("countHandled", undefined);
    if (handled === null) return undefined;
    if (handled >= accepted || performance.now() > deadline) return handled;
    await sleep(POLL_MS);
  }
}
