import { EXPRESS_FLOOR, LISTENER, MIDDLEWARE, NAIVE, findContestant } from "../contestants/catalogue.js";
import { buildSlowDisk } from "../process/slow-disk.js";
import { printLine, printTitle } from "../table.js";
import { runAlternated } from "./alternate.js";
import type { MeasureContext } from "./context.js";
import { printRuns, rateRatio } from "./report-runs.js";

const ADDED_MS = [1, 5];

/** Saturation on slower disks: time added to every fsync (P4, P5). */
export async function measureFsync(context: MeasureContext): Promise<void> {
  const { facts, options } = context;
  const slowDisk = buildSlowDisk(context.scratch);
  if (!slowDisk.ok) {
    printTitle("Slow fsync");
    printLine(`skipped: ${slowDisk.reason}`);
    return;
  }
  for (const addedMs of ADDED_MS) {
    printTitle(`HTTP with ${addedMs} ms added to every fsync and fdatasync`);
    const env = slowDisk.environment(addedMs);
    const contestants = [EXPRESS_FLOOR, MIDDLEWARE, LISTENER, NAIVE].map(findContestant);
    const runs = await runAlternated({
      ...context,
      ...options,
      entries: contestants.map((contestant) => ({ contestant, env })),
    });
    printRuns(runs);
    facts.set(`fsync${addedMs} front/naive`, rateRatio(runs, LISTENER, NAIVE));
    facts.set(`fsync${addedMs} front/express`, rateRatio(runs, LISTENER, EXPRESS_FLOOR));
  }
}
