import { findContestant } from "../contestants/catalogue.js";
import { startChild } from "../process/child.js";
import { LOAD_CORE } from "../process/pinning.js";
import { ownRuntime } from "../process/runtime.js";
import type { ViewerCalls } from "../process/viewer-process.js";
import { printTitle } from "../table.js";
import { type Beside, runAlternated } from "./alternate.js";
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
  const watchDashboard: Beside = (port) => {
    const begun = viewer.call("watch", port);
    return { end: () => begun.then(() => viewer.call("unwatch", undefined)) };
  };
  try {
    const runs = await runAlternated(context, {
      entries: [
        { contestant: findContestant("front") },
        { contestant: findContestant("front-dashboard"), beside: watchDashboard },
      ],
    });
    printRuns(runs);
    recordRatios(context.facts, runs, "dashboard ");
  } finally {
    await viewer.end();
  }
}
