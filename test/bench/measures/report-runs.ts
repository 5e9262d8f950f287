import type { Facts } from "../goals.js";
import { median, medianRatio } from "../stats.js";
import { formatNumber, formatPercent, formatTable, printLine } from "../table.js";
import type { Interval, ServerRun } from "./server-run.js";

/** Above this share of its core the load generator is the limit, not the server. */
const BUSY_LOAD_SHARE = 0.9;

/** Above this share of waiting the machine is too busy for rates and latencies. */
const DISTURBED_SHARE = 0.1;

/** The yardstick of the ratio columns. */
const BASE = "stripe";

type Figure = (interval: Interval) => number;

const rateOf: Figure = ({ requestsPerSecond }) => requestsPerSecond;
const cpuOf: Figure = ({ cpu }) => cpu.whole;

/** One figure of all intervals of a run, in the order of the rounds. */
function valuesOf(run: ServerRun | undefined, figure: Figure): number[] {
  return run?.intervals.map(figure) ?? [];
}

export function medianOf(run: ServerRun | undefined, figure: Figure): number {
  return median(valuesOf(run, figure));
}

function find(runs: readonly ServerRun[], name: string): ServerRun | undefined {
  return runs.find(({ contestant }) => contestant.name === name);
}

/** A figure of one run divided by that of another in the same round, median over the rounds. */
function ratioOf(figure: Figure, run: ServerRun | undefined, base: ServerRun | undefined): number {
  return medianRatio(valuesOf(run, figure), valuesOf(base, figure));
}

/** Rate of one run divided by that of another in the same round, median over the rounds. */
export function rateRatio(run: ServerRun | undefined, base: ServerRun | undefined): number {
  return ratioOf(rateOf, run, base);
}

/**
 * How much more CPU a request takes at `name` than at `base` in the same round, in microseconds, median over the
 * rounds.
 */
export function cpuDifference(runs: readonly ServerRun[], name: string, base: string): number {
  const bases = valuesOf(find(runs, base), cpuOf);
  return median(valuesOf(find(runs, name), cpuOf).map((micros, round) => micros - (bases[round] ?? Number.NaN)));
}

/** Records the ratios of all pairs as `rate a/b` and `cpu a/b`; `prefix` tells circumstances apart. */
export function recordRatios(facts: Facts, runs: readonly ServerRun[], prefix = ""): void {
  for (const run of runs) {
    for (const base of runs) {
      const pair = `${run.contestant.name}/${base.contestant.name}`;
      facts.set(`${prefix}rate ${pair}`, ratioOf(rateOf, run, base));
      facts.set(`${prefix}cpu ${pair}`, ratioOf(cpuOf, run, base));
    }
  }
}

const COLUMNS = [
  "",
  "req/s ",
  "spread",
  `x ${BASE}`,
  "p50 ms",
  "p99 ms",
  "max ms",
  "µs/rq",
  `x ${BASE}`,
  "main",
  "2nd",
  "server",
  "load",
  "wait",
] as const;

/** What the columns mean, printed once. */
export const COLUMN_NOTES = `req/s: median of the rounds; spread: (max - min) / median; x ${BASE}: median of the ratios to ${BASE} on Express in the same
round; µs/rq: CPU of the whole server process per request until the last handler's done mark, main: of its main thread, 2nd: of the busiest
other thread (the writer, where there is one), what is left is V8's own threads; server, load: share of a core that server and load generator
used; wait: share of the time in which another program had the load generator's core.`;

function formatRun(runs: readonly ServerRun[], run: ServerRun): string[] {
  const rates = valuesOf(run, rateOf);
  const rate = median(rates);
  const spread = (Math.max(...rates) - Math.min(...rates)) / rate;
  const figure = (select: Figure, digits: number): string => formatNumber(medianOf(run, select), digits);
  const share = (select: Figure): string => formatPercent(medianOf(run, select));
  const base = find(runs, BASE);
  const { name, title } = run.contestant;
  return [
    `${name}: ${title}`,
    `${formatNumber(rate, 0)}${isLoadBound(run) ? "*" : " "}`,
    formatPercent(spread),
    formatNumber(ratioOf(rateOf, run, base), 2),
    figure(({ p50 }) => p50, 2),
    figure(({ p99 }) => p99, 1),
    figure(({ max }) => max, 0),
    figure(cpuOf, 0),
    formatNumber(ratioOf(cpuOf, run, base), 2),
    figure(({ cpu }) => cpu.main, 0),
    figure(({ cpu }) => cpu.second, 0),
    share(({ serverCpuShare }) => serverCpuShare),
    share(({ loadCpuShare }) => loadCpuShare),
    share(({ loadWaitShare }) => loadWaitShare),
  ];
}

function isLoadBound(run: ServerRun): boolean {
  return medianOf(run, ({ loadCpuShare }) => loadCpuShare) > BUSY_LOAD_SHARE;
}

/** Prints rates, ratios, latencies and CPU of the runs, and whatever makes them doubtful. */
export function printRuns(runs: readonly ServerRun[]): void {
  const measured = runs.filter(({ intervals }) => intervals.length > 0);
  const rows = measured.map((run) => formatRun(measured, run));
  printLine(formatTable(COLUMNS, rows));
  if (measured.some(isLoadBound)) {
    printLine("* the load generator was the limit: the rate is a lower bound; compare µs/rq");
  }
  if (measured.some((run) => medianOf(run, ({ loadWaitShare }) => loadWaitShare) > DISTURBED_SHARE)) {
    printLine(
      "!!!! DISTURBED: other programs used these cores (column wait); at best µs/rq says something, repeat the run",
    );
  }
  for (const run of measured) {
    printErrors(run);
    printSettled(run);
  }
}

function printErrors(run: ServerRun): void {
  const errors = new Map<string, number>();
  for (const interval of run.intervals) {
    for (const [reason, count] of Object.entries(interval.errors))
      errors.set(reason, (errors.get(reason) ?? 0) + count);
  }
  if (errors.size === 0) return;
  const list = [...errors].map(([reason, count]) => `${count} x ${reason}`).join(", ");
  printLine(`!!!! NOT VALID: ${run.contestant.name} did not answer 200 to everything: ${list}`);
  process.exitCode = 1;
}

/** Every handler of every answered event must have its done mark. */
function printSettled(run: ServerRun): void {
  const { name, handles = true } = run.contestant;
  if (run.settled === undefined || !handles) return;
  const wanted = run.accepted;
  const drainMs = medianOf(run, (interval) => interval.drainMs);
  const isComplete = run.settled === wanted;
  const mark = isComplete ? "" : "!!!! NOT VALID: ";
  printLine(
    `${mark}${name}: ${run.settled} of ${wanted} runs of handlers are done, the last ${formatNumber(drainMs, 0)} ms after the load`,
  );
  if (!isComplete) process.exitCode = 1;
}
