import { startChild, type Child } from "../process/child.js";
import { readFamilyCpuMicros } from "../process/cpu-time.js";
import { BOTH_CORES } from "../process/pinning.js";
import type { PostgresCalls, PostgresInterval, PostgresPlan } from "../process/postgres-process.js";
import { startPostgres, type QueueServer } from "../process/queue-servers.js";
import { median, medianRatio } from "../stats.js";
import { formatNumber, formatTable, printLine, printProgress } from "../table.js";
import type { MeasureContext } from "./context.js";

export type PostgresUnderTest = QueueServer & { url: string };

/** Stores in processes of their own, which take events at the same time. */
export interface StoreEntry {
  name: string;
  title: string;
  /** One for each process. */
  plans: readonly PostgresPlan[];
  /** Of each process. @default all of the run, shared between the processes */
  callers?: number;
}

/** One interval, with microseconds for each event. */
export interface StoreFigures {
  rate: number;
  p50Ms: number;
  ours: number;
  server: number;
}

export interface StoreRun {
  entry: StoreEntry;
  figures: StoreFigures[];
}

/** Runs the measure beside a server of its own. */
export async function withPostgres(
  { options }: MeasureContext,
  measure: (server: PostgresUnderTest) => Promise<void>,
): Promise<void> {
  const server = await startPostgres(options.directory);
  try {
    await measure(server);
  } finally {
    await server.end();
  }
}

/** All processes live through the run, and the entries take turns. */
export async function runStores(
  context: MeasureContext,
  server: PostgresUnderTest,
  entries: readonly StoreEntry[],
): Promise<StoreRun[]> {
  const { options, runtime } = context;
  const children: Child<PostgresCalls>[] = [];
  const runs: (StoreRun & { processes: Child<PostgresCalls>[] })[] = [];
  try {
    for (const entry of entries) {
      const processes: Child<PostgresCalls>[] = [];
      for (const plan of entry.plans) {
        const child = startChild<PostgresCalls>({ file: "process/postgres-process.ts", runtime, cores: BOTH_CORES });
        children.push(child);
        processes.push(child);
        await child.call("open", plan);
      }
      runs.push({ entry, figures: [], processes });
      await runInterval({ entry, processes, server, seconds: 1, connections: options.connections });
    }
    for (let round = 0; round < options.rounds; round += 1) {
      for (const { entry, figures, processes } of round % 2 === 0 ? runs : runs.toReversed()) {
        const { seconds, connections } = options;
        figures.push(await runInterval({ entry, processes, server, seconds, connections }));
      }
      printProgress(`PostgreSQL, round ${round + 1} of ${options.rounds}`);
    }
  } finally {
    for (const child of children) {
      await child.call("close", undefined).catch(() => undefined);
      await child.end();
    }
  }
  return runs;
}

async function runInterval(interval: {
  entry: StoreEntry;
  processes: readonly Child<PostgresCalls>[];
  server: PostgresUnderTest;
  seconds: number;
  connections: number;
}): Promise<StoreFigures> {
  const { entry, processes, server, seconds, connections } = interval;
  const { callers = Math.ceil(connections / processes.length) } = entry;
  const before = readFamilyCpuMicros(server.pid);
  const ran = await Promise.all(processes.map((child) => child.call("run", { seconds, callers })));
  return figuresOf(ran, readFamilyCpuMicros(server.pid) - before);
}

function figuresOf(ran: readonly PostgresInterval[], serverMicros: number): StoreFigures {
  const sum = (select: (interval: PostgresInterval) => number): number =>
    ran.reduce((total, interval) => total + select(interval), 0);
  const events = sum((interval) => interval.events);
  return {
    rate: sum((interval) => interval.events / interval.seconds),
    p50Ms: median(ran.map(({ p50Ms }) => p50Ms)),
    ours: sum(({ cpuMicros }) => cpuMicros) / events,
    server: serverMicros / events,
  };
}

export const rateOf = ({ rate }: StoreFigures): number => rate;
export const cpuOf = ({ ours, server }: StoreFigures): number => ours + server;
export const serverOf = ({ server }: StoreFigures): number => server;
export const p50Of = ({ p50Ms }: StoreFigures): number => p50Ms;

/** How often the figure of one run is that of another, in the middle of the rounds. */
export function storeRatio(
  run: StoreRun | undefined,
  base: StoreRun | undefined,
  select: (figures: StoreFigures) => number,
): number {
  return medianRatio(run?.figures.map(select) ?? [], base?.figures.map(select) ?? []);
}

/** The runs as a table; rates and CPU are compared with the first one. */
export function printStores(runs: readonly StoreRun[]): void {
  const [base] = runs;
  const rows = runs.map((run) => {
    const figure = (select: (figures: StoreFigures) => number, digits = 0): string =>
      formatNumber(median(run.figures.map(select)), digits);
    const ratio = (select: (figures: StoreFigures) => number): string => formatNumber(storeRatio(run, base, select), 2);
    return [
      run.entry.title,
      figure(rateOf),
      ratio(rateOf),
      figure(p50Of, 1),
      figure(({ ours }) => ours),
      figure(serverOf),
      figure(cpuOf),
      ratio(cpuOf),
    ];
  });
  const header = ["", "events/s", "x first", "p50 ms", "µs of ours", "µs of the server", "µs CPU", "x first"];
  printLine(formatTable(header, rows));
}
