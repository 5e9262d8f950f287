import { findContestant } from "../contestants/catalogue.js";
import { buildSlowDisk } from "../process/slow-disk.js";
import { printLine, printTitle } from "../table.js";
import { runAlternated } from "./alternate.js";
import type { MeasureContext } from "./context.js";
import { medianOf, printRuns } from "./report-runs.js";
import type { ServerRun } from "./server-run.js";

/** Requests per second; less than half of what one core takes. */
const RATE = 2_400;
const SLOW_FSYNC_MS = 5;
const CONTESTANTS = ["prototype", "front", "route", "stripe"];
/** Those that wait for a disk. */
const ON_SLOW_DISK = ["prototype", "front", "route"];

/** Acknowledgement times at moderate load (P8); latency counts from the moment a request was due. */
export async function measureModerate(context: MeasureContext): Promise<void> {
  const { facts, options, runtime } = context;
  printTitle(`Moderate load, Node ${runtime.version}: ${RATE} requests per second at even distances`);
  const runs = await runAt(context, options.contestants ?? CONTESTANTS);
  const front = runs.find(({ contestant }) => contestant.name === "front");
  facts.set(
    "moderate p99",
    medianOf(front, ({ p99 }) => p99),
  );

  printTitle(`The same with ${SLOW_FSYNC_MS} ms added to every fsync`);
  const slowDisk = buildSlowDisk(context.scratch);
  if (slowDisk.ok) await runAt(context, ON_SLOW_DISK, slowDisk.environment(SLOW_FSYNC_MS));
  else printLine(`skipped: ${slowDisk.reason}`);
}

async function runAt(
  context: MeasureContext,
  names: readonly string[],
  env: Record<string, string> = {},
): Promise<ServerRun[]> {
  const entries = names.map((name) => ({ contestant: findContestant(name), env }));
  const runs = await runAlternated(context, { entries, rate: RATE });
  printRuns(runs);
  return runs;
}
