import { cpus } from "node:os";
import { CONTESTANTS, findContestant } from "./contestants/catalogue.js";
import type { Facts } from "./goals.js";
import type { MeasureContext } from "./measures/context.js";
import { COLUMN_NOTES } from "./measures/report-runs.js";
import { startLoadGenerator } from "./measures/server-run.js";
import { readOptions, USAGE, type BenchOptions, type Measure } from "./options.js";
import { preparePerfLab, type PerfLab } from "./process/perf-lab.js";
import { describePinning } from "./process/pinning.js";
import { ownRuntime, prepareRuntime, type Runtime } from "./process/runtime.js";
import { createScratch, measureFsyncMicros, type Scratch } from "./process/scratch.js";
import { printGoals } from "./report-goals.js";
import { formatNumber, printLine } from "./table.js";

/** Loaded when asked for, so that a part of ours that is not built hurts no other measure. */
const MEASURE_LOADERS: Record<Measure, () => Promise<(context: MeasureContext) => Promise<void>>> = {
  http: async () => (await import("./measures/http.js")).measureHttp,
  peers: async () => (await import("./measures/peers.js")).measurePeers,
  batches: async () => (await import("./measures/batches.js")).measureBatches,
  moderate: async () => (await import("./measures/moderate.js")).measureModerate,
  beside: async () => (await import("./measures/beside.js")).measureBeside,
  heap: async () => (await import("./measures/heap.js")).measureHeap,
  growth: async () => (await import("./measures/growth.js")).measureGrowth,
  backlog: async () => (await import("./measures/backlog.js")).measureBacklog,
  dashboard: async () => (await import("./measures/dashboard.js")).measureDashboard,
  postgres: async () => (await import("./measures/postgres.js")).measurePostgres,
  "postgres-network": async () => (await import("./measures/postgres-network.js")).measurePostgresNetwork,
  "postgres-nodes": async () => (await import("./measures/postgres-nodes.js")).measurePostgresNodes,
  "postgres-ids": async () => (await import("./measures/postgres-ids.js")).measurePostgresIds,
  "postgres-backlog": async () => (await import("./measures/postgres-backlog.js")).measurePostgresBacklog,
  "postgres-steady": async () => (await import("./measures/postgres-steady.js")).measurePostgresSteady,
};

function describeRun(options: BenchOptions, place: { scratch: Scratch; runtime: Runtime; perfLab: PerfLab }): void {
  const { perfLab, runtime, scratch } = place;
  const [cpu] = cpus();
  printLine(
    `${cpus().length} x ${cpu?.model ?? "unknown processor"}; everything measured runs on Node ${runtime.version}`,
  );
  printLine(`the benchmark itself and its load generator run on Node ${process.version}`);
  printLine(describePinning());
  const micros = formatNumber(measureFsyncMicros(scratch), 0);
  printLine(`databases in ${options.directory}; appending 4 KB with fdatasync takes ${micros} µs there (median)`);
  if (!perfLab.ok) printLine(`without the rows of the prototype: ${perfLab.reason}`);
  printLine("only ratios within one run say something; absolute rates belong to this machine");
  printLine(COLUMN_NOTES);
}

async function runMeasures(options: BenchOptions): Promise<void> {
  const scratch = createScratch(options.directory);
  const facts: Facts = new Map();
  const runtime = options.node === undefined ? ownRuntime() : prepareRuntime(options.node, scratch);
  const perfLab = preparePerfLab(options.perfLab, { scratch, runtime });
  describeRun(options, { scratch, runtime, perfLab });
  const load = startLoadGenerator();
  try {
    for (const measure of options.only) {
      try {
        const run = await MEASURE_LOADERS[measure]();
        await run({ options, scratch, load, runtime, perfLab, facts });
      } catch (error) {
        printLine(`FAILED ${measure}: ${error instanceof Error ? error.message : String(error)}`);
        process.exitCode = 1;
      }
    }
  } finally {
    await load.end();
  }
  printGoals({ facts, runtime, measures: options.only });
}

const HELP = `${USAGE}\ncontestants:${CONTESTANTS.map(({ name, title }) => `\n  ${name}: ${title}`).join("")}`;

function tryReadOptions(): BenchOptions | undefined {
  try {
    const options = readOptions(process.argv.slice(2));
    options?.contestants?.forEach(findContestant);
    if (!options) printLine(HELP);
    return options;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${HELP}\n`);
    process.exitCode = 2;
    return undefined;
  }
}

const options = tryReadOptions();
if (options) await runMeasures(options);
