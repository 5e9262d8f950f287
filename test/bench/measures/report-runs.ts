import { BARE_HTTP, EXPRESS_FLOOR } from "../contestants/catalogue.js";
import { median, medianRatio } from "../stats.js";
import { formatNumber, formatPercent, formatTable, printLine } from "../table.js";
import type { Interval, ServerRun } from "./server-run.js";

/** Above this share of its core the load generator is the limit, not the server. */
const BUSY_LOAD_SHARE = 0.9;

/** Above this share of waiting the machine is too busy for rates and latencies. */
const DISTURBED_SHARE = 0.1;

/** One figure of all intervals of a run, in the order of the rounds. */
export function valuesOf(run: ServerRun | undefined, figure: (interval: Interval) => number): number[] {
  return run?.intervals.map(figure) ?? [];
}

export function medianOf(run: ServerRun | undefined, figure: (interval: Interval) => number): number {
  return median(valuesOf(run, figure));
}

/** Rate of one contestant divided by that of another in the same round, median over the rounds. */
export function rateRatio(runs: readonly ServerRun[], name: string, base: string): number {
  const rates = (wanted: string): number[] =>
    valuesOf(
      runs.find(({ contestant }) => contestant.name === wanted),
      ({ requestsPerSecond }) => requestsPerSecond,
    );
  return medianRatio(rates(name), rates(base));
}

const COLUMNS = [
  "",
  "req/s ",
  "spread",
  "x http",
  "x Expr.",
  "p50 ms",
  "p99 ms",
  "max ms",
  "µs/rq",
  "main",
  "server",
  "load",
  "wait",
] as const;

/** What the columns mean, printed once. */
export const COLUMN_NOTES = `req/s: median of the rounds, spread: (max - min) / median; x http, x Expr.: median of the ratios to bare node:http and
bare Express in the same round; µs/rq: CPU of the server process, all threads, up to the last handled event, main: its main
thread; server, load: share of a core that server and load generator used, wait: share of the time in which
another program had the load generator's core.`;

function formatRun(runs: readonly ServerRun[], run: ServerRun): string[] {
  const rates = valuesOf(run, ({ requestsPerSecond }) => requestsPerSecond);
  const rate = median(rates);
  const spread = (Math.max(...rates) - Math.min(...rates)) / rate;
  const figure = (select: (interval: Interval) => number, digits: number): string =>
    formatNumber(medianOf(run, select), digits);
  const share = (select: (interval: Interval) => number): string => formatPercent(medianOf(run, select));
  const { name, title } = run.contestant;
  return [
    title,
    `${formatNumber(rate, 0)}${isLoadBound(run) ? "*" : " "}`,
    formatPercent(spread),
    formatNumber(rateRatio(runs, name, BARE_HTTP), 2),
    formatNumber(rateRatio(runs, name, EXPRESS_FLOOR), 2),
    figure(({ p50 }) => p50, 2),
    figure(({ p99 }) => p99, 1),
    figure(({ max }) => max, 0),
    figure(({ cpuMicros }) => cpuMicros, 0),
    figure(({ mainMicros }) => mainMicros, 0),
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
      "!!!! DISTURBED: other programs used these cores (column wait); only µs/rq says something, repeat the run",
    );
  }
  for (const run of measured) {
    printErrors(run);
    printHandled(run);
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

function printHandled(run: ServerRun): void {
  if (run.handled === undefined) return;
  const drainMs = formatNumber(
    medianOf(run, (interval) => interval.drainMs),
    0,
  );
  const { doneMarks } = run;
  const complete = run.handled === run.accepted && (doneMarks === undefined || doneMarks === run.accepted);
  const marks = doneMarks === undefined ? "" : `, ${doneMarks} done marks in the database`;
  const mark = complete ? "" : "!!!! NOT VALID: ";
  printLine(
    `${mark}${run.contestant.name}: handled ${run.handled} of ${run.accepted}, the last ${drainMs} ms after the load${marks}`,
  );
  if (!complete) process.exitCode = 1;
}
