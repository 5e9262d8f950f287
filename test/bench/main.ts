import { cpus } from "node:os";
import { CONTESTANTS, findContestant } from "./contestants/catalogue.js";
import { printGoals, type Facts } from "./goals.js";
import type { MeasureContext } from "./measures/context.js";
import { COLUMN_NOTES } from "./measures/report-runs.js";
import { startLoadGenerator } from "./measures/server-run.js";
import { readOptions, USAGE, type BenchOptions, type Measure } from "./options.js";
import { describePinning, serverCores } from "./process/pinning.js";
import { createScratch, measureFsyncMicros, type Scratch } from "./process/scratch.js";
import { formatNumber, printLine } from "./table.js";

/** Loaded when asked for, so that a part of ours that is not built hurts no other measure. */
const MEASURE_LOADERS: Record<Measure, () => Promise<(context: MeasureContext) => Promise<void>>> = {
  http: async () => (await import("./measures/http.js")).measureHttp,
  verify: async () => (await import("./measures/verify.js")).measureVerify,
  growth: async () => (await import("./measures/growth.js")).measureGrowth,
  backlog: async () => (await import("./measures/backlog.js")).measureBacklog,
  settle: async () => (await import("./measures/settle.js")).measureSettle,
  outbox: async () => (await import("./measures/outbox.js")).measureOutbox,
  moderate: async () => (await import("./measures/moderate.js")).measureModerate,
  fsync: async () => (await import("./measures/fsync.js")).measureFsync,
};

function describeMachine(options: BenchOptions, scratch: Scratch): void {
  const [cpu] = cpus();
  const { node, openssl } = process.versions;
  printLine(`node ${node}, OpenSSL ${openssl}, ${cpus().length} x ${cpu?.model ?? "unknown processor"}`);
  printLine(describePinning(options.twoCores));
  const micros = formatNumber(measureFsyncMicros(scratch), 0);
  printLine(`databases in ${options.directory}; appending 4 KB with fdatasync takes ${micros} µs there (median)`);
  printLine("only ratios within one run say something; absolute rates belong to this machine");
  printLine(COLUMN_NOTES);
}

async function runMeasures(options: BenchOptions): Promise<void> {
  const scratch = createScratch(options.directory);
  const facts: Facts = new Map();
  describeMachine(options, scratch);
  const load = startLoadGenerator();
  try {
    for (const measure of options.only) {
      try {
        const run = await MEASURE_LOADERS[measure]();
        await run({ options, scratch, load, facts, cores: serverCores(options.twoCores) });
      } catch (error) {
        printLine(`FAILED ${measure}: ${error instanceof Error ? error.message : String(error)}`);
        process.exitCode = 1;
      }
    }
  } finally {
    await load.end();
  }
  printGoals(facts);
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
