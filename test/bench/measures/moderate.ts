import { EXPRESS_FLOOR, LISTENER, MIDDLEWARE, NAIVE, findContestant } from "../contestants/catalogue.js";
import { buildSlowDisk } from "../process/slow-disk.js";
import { printLine, printTitle } from "../table.js";
import { runAlternated } from "./alternate.js";
import type { MeasureContext } from "./context.js";
import { medianOf, printRuns } from "./report-runs.js";
import type { ServerRun } from "./server-run.js";

/** Requests per second; about a quarter of what the Express floor takes. */
const RATE = 2_400;

const SLOW_FSYNC_MS = 5;

/** Acknowledgement times at moderate load (P8); latency counts from the moment a request was due. */
export async function measureModerate(context: MeasureContext): Promise<void> {
  const { facts } = context;
  printTitle(`Moderate load: ${RATE} requests per second at even distances`);
  const front = findFront(await runAt(context, [EXPRESS_FLOOR, MIDDLEWARE, LISTENER, NAIVE]));
  facts.set(
    "moderate p50",
    medianOf(front, ({ p50 }) => p50),
  );
  facts.set(
    "moderate p99",
    medianOf(front, ({ p99 }) => p99),
  );

  printTitle(`The same with ${SLOW_FSYNC_MS} ms added to every fsync`);
  const slowDisk = buildSlowDisk(context.scratch);
  if (!slowDisk.ok) {
    printLine(`skipped: ${slowDisk.reason}`);
    return;
  }
  const slowFront = findFront(await runAt(context, [MIDDLEWARE, LISTENER], slowDisk.environment(SLOW_FSYNC_MS)));
  facts.set(
    "moderate fsync5 max",
    medianOf(slowFront, ({ max }) => max),
  );
}

async function runAt(context: MeasureContext, names: string[], env: Record<string, string> = {}): Promise<ServerRun[]> {
  const entries = names.map((name) => ({ contestant: findContestant(name), env }));
  const runs = await runAlternated({ ...context, ...context.options, entries, rate: RATE });
  printRuns(runs);
  return runs;
}

function findFront(runs: readonly ServerRun[]): ServerRun | undefined {
  return runs.find(({ contestant }) => contestant.name === LISTENER);
}
