import { setTimeout as sleep } from "node:timers/promises";
import { DASHBOARD_PATH } from "../sample-delivery.js";
import { serveCalls } from "./child-calls.js";

const REFRESH_MS = 1_000;
const OVERVIEW = "overview?range=1h";
/** What its other views read; a person looks at one after the other. */
const VIEWS = ["errors", "events", "events?state=dead", "running", "handlers", "jobs", "outbox"];

let watched: { ending: AbortController; ended: Promise<unknown> } | undefined;

/** Once a second the overview and one view after the other. Throws when something cannot be read. */
async function refresh(port: number, signal: AbortSignal): Promise<void> {
  const read = async (view: string): Promise<void> => {
    const response = await fetch(`http://127.0.0.1:${port}${DASHBOARD_PATH}/api/${view}`, { signal });
    await response.text();
    if (!response.ok) throw new Error(`${view} was answered ${response.status}`);
  };
  for (let round = 0; !signal.aborted; round += 1) {
    await Promise.all([OVERVIEW, VIEWS[round % VIEWS.length] ?? OVERVIEW].map(read));
    await sleep(REFRESH_MS, undefined, { signal });
  }
}

async function follow(port: number, signal: AbortSignal): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}${DASHBOARD_PATH}/api/stream`, { signal });
  for await (const _ of response.body ?? []) if (signal.aborted) return;
}

const calls = {
  /** Opens the dashboard for so many readers, as its server sees it. */
  watchDashboard({ port, readers }: { port: number; readers: number }): Promise<void> {
    const ending = new AbortController();
    const { signal } = ending;
    // People do not open it at the same moment.
    const reading = Array.from({ length: readers }, async (_, place) => {
      await sleep((place * REFRESH_MS) / readers, undefined, { signal });
      await Promise.all([refresh(port, signal), follow(port, signal)]);
    });
    const ended = Promise.all(reading);
    // The end tells.
    ended.catch(() => undefined);
    watched = { ending, ended };
    return Promise.resolve();
  },
  /** Closes it. Rejects when a view could not be read. */
  async unwatch(): Promise<void> {
    const { ending, ended } = watched ?? {};
    watched = undefined;
    ending?.abort();
    await ended?.catch((error: unknown) => {
      if (!(error instanceof Error && error.name === "AbortError")) throw error;
    });
  },
};

export type ViewerCalls = typeof calls;

serveCalls(calls);
