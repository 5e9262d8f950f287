import { setTimeout as sleep } from "node:timers/promises";
import { findContestant } from "../contestants/catalogue.js";
import { DASHBOARD_PATH } from "../sample-delivery.js";
import { printTitle } from "../table.js";
import { type Beside, runAlternated } from "./alternate.js";
import type { MeasureContext } from "./context.js";
import { printRuns, recordRatios } from "./report-runs.js";

const REFRESH_MS = 1_000;
const OVERVIEW = "overview?range=1h";
/** What its other views read; a person looks at one after the other. */
const VIEWS = ["errors", "events", "events?state=dead", "running", "handlers", "jobs", "outbox"];

/** What an open dashboard costs the deliveries: its live stream, the overview and another view once a second. */
export async function measureDashboard(context: MeasureContext): Promise<void> {
  const { connections, rounds, seconds } = context.options;
  printTitle(
    `A dashboard that is open and refreshed each second: 4 KB bodies, ${connections} connections, ${rounds} rounds of ${seconds} s`,
  );
  const runs = await runAlternated(context, {
    entries: [
      { contestant: findContestant("front") },
      { contestant: findContestant("front-dashboard"), beside: watchDashboard },
    ],
  });
  printRuns(runs);
  recordRatios(context.facts, runs, "dashboard ");
}

/** A page that is open, as its server sees it. Throws when a view cannot be read. */
const watchDashboard: Beside = (port) => {
  const ending = new AbortController();
  const { signal } = ending;
  const base = `http://127.0.0.1:${port}${DASHBOARD_PATH}/api`;
  const read = async (view: string): Promise<void> => {
    const response = await fetch(`${base}/${view}`, { signal });
    await response.text();
    if (!response.ok) throw new Error(`${view} was answered ${response.status}`);
  };
  const refresh = async (): Promise<void> => {
    for (let second = 0; !signal.aborted; second += 1) {
      await Promise.all([read(OVERVIEW), read(VIEWS[second % VIEWS.length] ?? OVERVIEW)]);
      await sleep(REFRESH_MS, undefined, { signal });
    }
  };
  const follow = async (): Promise<void> => {
    const response = await fetch(`${base}/stream`, { signal });
    for await (const _ of response.body ?? []) if (signal.aborted) return;
  };
  const ended = Promise.all([refresh(), follow()]).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return {
    async end() {
      ending.abort();
      await ended;
    },
  };
};
