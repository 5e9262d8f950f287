import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { pinCommand } from "../process/pinning.js";
import { BODY_BYTES, EVENT_TYPE, HANDLER_NAME, SECRET } from "../sample-delivery.js";
import { median } from "../stats.js";
import { formatNumber, formatTable, printLine, printTitle } from "../table.js";
import type { MeasureContext } from "./context.js";
import { fillDatabase } from "./fill-database.js";

interface BacklogReport {
  startMs: number;
  firstMs: number | null;
  handled: number;
  peakBytes: number;
}

/** How long the process works on the backlog before its memory is read. */
const WORK_MS = 5_000;
/** More would work off most of the backlog. */
const MOST_ROUNDS = 3;
const LIMIT_MS = WORK_MS + 60_000;
const MEGABYTE = 1_000_000;

const program = fileURLToPath(new URL("../process/backlog-process.mjs", import.meta.url));

/** Start-up with many pending events: time to the first handler and peak memory (P10). */
export async function measureBacklog(context: MeasureContext): Promise<void> {
  const { facts, options, scratch } = context;
  printTitle(`Backlog: start with ${options.rows} pending events of 4 KB`);
  const full = scratch.file("backlog.db");
  await fillDatabase({ file: full, rows: options.rows, work: "pending", bodyBytes: BODY_BYTES });
  const rounds = Math.min(MOST_ROUNDS, options.rounds);
  const none: BacklogReport[] = [];
  const loaded: BacklogReport[] = [];
  for (let round = 0; round < rounds; round += 1) {
    none.push(await runBacklog(scratch.file("no-backlog.db"), context.cores));
    loaded.push(await runBacklog(full, context.cores));
  }
  const rows = [formatReports("empty database", none), formatReports(`${options.rows} pending`, loaded)];
  printLine(formatTable(["", "start() ms", "first handler ms", `handled in ${WORK_MS / 1000} s`, "peak RSS MB"], rows));
  printLine(
    `medians of ${rounds} processes; the time counts from before createReceiver, the memory is that of all threads`,
  );
  facts.set("backlog ms", median(loaded.map(({ firstMs }) => firstMs ?? Number.NaN)));
  facts.set("backlog MB", Math.max(...loaded.map(({ peakBytes }) => peakBytes)) / MEGABYTE);
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

function runBacklog(file: string, cores: string): Promise<BacklogReport> {
  const args = [program, file, SECRET, EVENT_TYPE, HANDLER_NAME, String(WORK_MS)];
  const command = pinCommand(cores, [process.execPath, ...args]);
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
