import { setTimeout as sleep } from "node:timers/promises";
import { findContestant } from "../contestants/catalogue.js";
import { type Child, startChild } from "../process/child.js";
import { readThreads } from "../process/cpu-time.js";
import { LOAD_CORE } from "../process/pinning.js";
import { ownRuntime } from "../process/runtime.js";
import type { ViewerCalls } from "../process/viewer-process.js";
import { median } from "../stats.js";
import { formatNumber, printLine, printTitle } from "../table.js";
import { type Beside, runAlternated, tryStart } from "./alternate.js";
import type { MeasureContext } from "./context.js";
import { printRuns, recordRatios } from "./report-runs.js";

/** What an open dashboard costs the deliveries: its live stream, the overview and another view once a second. */
export async function measureDashboard(context: MeasureContext): Promise<void> {
  const { connections, rounds, seconds } = context.options;
  printTitle(
    `A dashboard that is open and refreshed each second: 4 KB bodies, ${connections} connections, ${rounds} rounds of ${seconds} s`,
  );
  // A browser takes nothing from the core of the server.
  const viewer = startChild<ViewerCalls>({
    file: "process/viewer-process.ts",
    runtime: ownRuntime(),
    cores: LOAD_CORE,
  });
  const beside: Beside = (port) => {
    const begun = viewer.call("watchDashboard", { port, readers: 1 });
    return { end: () => begun.then(() => viewer.call("unwatch", undefined)) };
  };
  try {
    const runs = await runAlternated(context, {
      entries: [{ contestant: findContestant("front") }, { contestant: findContestant("front-dashboard"), beside }],
    });
    printRuns(runs);
    recordRatios(context.facts, runs, "dashboard ");
    const millis = await measureRefresh(context, viewer);
    printLine(`an open dashboard takes ${formatNumber(millis, 1)} ms of CPU a second where nothing is delivered`);
    context.facts.set("dashboard refresh ms", millis);
  } finally {
    await viewer.end();
  }
}

const WINDOW_MS = 5_000;

/**
 * CPU of all threads of the server per second with an open page, above that without one, in milliseconds; of pairs of
 * windows without deliveries, whose noise is more than a page takes.
 */
async function measureRefresh(context: MeasureContext, viewer: Child<ViewerCalls>): Promise<number> {
  const server = await tryStart(context, { contestant: findContestant("front-dashboard") });
  if (server === undefined) return Number.NaN;
  const { connections, rounds } = context.options;
  const takeWindow = async (): Promise<number> => {
    const before = sumOf(readThreads(server.pid));
    await sleep(WINDOW_MS);
    return (sumOf(readThreads(server.pid)) - before) / WINDOW_MS;
  };
  try {
    await server.measure({ connections, seconds: 2 }, false);
    const differences: number[] = [];
    for (let round = 0; round < Math.min(rounds, 3); round += 1) {
      const alone = await takeWindow();
      await viewer.call("watchDashboard", { port: server.port, readers: 1 });
      differences.push((await takeWindow()) - alone);
      await viewer.call("unwatch", undefined);
    }
    return median(differences);
  } finally {
    await server.end();
  }
}

function sumOf(threads: ReadonlyMap<number, number>): number {
  return [...threads.values()].reduce((sum, micros) => sum + micros, 0);
}
