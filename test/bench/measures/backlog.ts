import { spawn } from "node:child_process";
import { join } from "node:path";
import { fillSqlite } from "../process/fill-stores.js";
import { pinCommand, SERVER_CORE } from "../process/pinning.js";
import type { Runtime } from "../process/runtime.js";
import { EVENT_TYPE, HANDLER_NAME, SECRET } from "../sample-delivery.js";
import { median } from "../stats.js";
import { formatNumber, formatTable, printLine, printTitle } from "../table.js";
import type { MeasureContext } from "./context.js";

export interface BacklogReport {
  startMs: number;
  firstMs: number | null;
  handled: number;
  peakBytes: number;
}

/** How long the process works on the backlog before its memory is read. */
const WORK_MS = 5_000;
/** More would work off most of the backlog. */
const MAX_ROUNDS = 3;
const LIMIT_MS = WORK_MS + 60_000;
/** The goals are for so many; with fewer the figures are printed and not judged. */
export const JUDGED_ROWS = 1_000_000;
export const MEGABYTE = 1_000_000;

/** Start-up with many pending events: time to the first handler and peak memory (P10). */
export async function measureBacklog(context: MeasureContext): Promise<void> {
  const { facts, options, runtime, scratch } = context;
  printTitle(`Backlog, Node ${runtime.version}: start with ${options.rows} pending events of 4 KB`);
  const full = scratch.file("backlog.db");
  fillSqlite(full, { rows: options.rows, work: "pending" });
  const rounds = Math.min(MAX_ROUNDS, options.rounds);
  const none: BacklogReport[] = [];
  const loaded: BacklogReport[] = [];
  for (let round = 0; round < rounds; round += 1) {
    none.push(await runBacklog(scratch.file("no-backlog.db"), runtime));
    loaded.push(await runBacklog(full, runtime));
  }
  printReports([
    ["empty database", none],
    [`${options.rows} pending`, loaded],
  ]);
  if (options.rows < JUDGED_ROWS) {
    printLine(`P10 is judged with ${JUDGED_ROWS} rows`);
    return;
  }
  const firstMs = median(loaded.map((report) => report.firstMs ?? Number.NaN));
  facts.set("backlog ms", firstMs - median(none.map(({ startMs }) => startMs)));
  const peakOf = (reports: readonly BacklogReport[]): number => median(reports.map(({ peakBytes }) => peakBytes));
  facts.set("backlog MB", (peakOf(loaded) - peakOf(none)) / MEGABYTE);
}

/** The reports as a table, a row for each title. */
export function printReports(rows: readonly (readonly [title: string, reports: readonly BacklogReport[]])[]): void {
  const header = ["", "start() ms", "first handler ms", `handled in ${WORK_MS / 1000} s`, "peak RSS MB"];
  const cells = rows.map(([title, reports]) => formatReports(title, reports));
  printLine(formatTable(header, cells));
  printLine(
    `medians of ${rows[0]?.[1].length} processes; the time counts from before createReceiver, the memory is that of all threads`,
  );
}

function formatReports(title: string, reports: readonly BacklogReport[]): string[] {
  return [
    title,
    formatNumber(median(reports.map(({ startMs }) => startMs)), 0),
    formatNumber(median(reports.map(({ firstMs }) => firstMs ?? Number.NaN)), 0),
    formatNumber(median(reports.map(({ handled }) => handled)), 0),
    formatNumber(median(reports.map(({ peakBytes }) => peakBytes)) / MEGABYTE, 0),
  ];
}

/** Works on what is pending in a file, or at the URL of a database, for some seconds. */
export function runBacklog(place: string, runtime: Runtime): Promise<BacklogReport> {
  const program = join(runtime.home, "test/bench/process/backlog-process.mjs");
  const args = [program, place, SECRET, EVENT_TYPE, HANDLER_NAME, String(WORK_MS)];
  const command = pinCommand(SERVER_CORE, [runtime.node, ...args]);
  const child = spawn(command.file, command.args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const limit = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  const kill = (): boolean => child.kill("SIGKILL");
  process.once("exit", kill);
  return new Promise<BacklogReport>((resolve, reject) => {
    child.once("message", (report: BacklogReport) => resolve(report));
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the backlog process ended with ${code} before it reported`)));
  }).finally(() => {
    clearTimeout(limit);
    process.off("exit", kill);
  });
}
