import { findContestant } from "../contestants/catalogue.js";
import { buildSlowDisk } from "../process/slow-disk.js";
import { printLine, printTitle } from "../table.js";
import { runAlternated } from "./alternate.js";
import type { MeasureContext } from "./context.js";
import { printRuns, recordRatios } from "./report-runs.js";

const ADDED_MS = [1, 5];
const CONTESTANTS = ["prototype", "front", "route", "stripe", "one-transaction"];

/** Saturation on slower disks: time added to every fsync (P4). */
export async function measureFsync(context: MeasureContext): Promise<void> {
  const { facts, options, runtime } = context;
  const slowDisk = buildSlowDisk(context.scratch);
  if (!slowDisk.ok) {
    printTitle("Slow fsync");
    printLine(`skipped: ${slowDisk.reason}`);
    return;
  }
  const contestants = (options.contestants ?? CONTESTANTS).map(findContestant);
  for (const addedMs of ADDED_MS) {
    printTitle(`HTTP at saturation, Node ${runtime.version}, ${addedMs} ms added to every fsync and fdatasync`);
    const env = slowDisk.environment(addedMs);
    const runs = await runAlternated(context, { entries: contestants.map((contestant) => ({ contestant, env })) });
    printRuns(runs);
    recordRatios(facts, runs, `fsync${addedMs} `);
  }
}
