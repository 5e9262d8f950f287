import { setTimeout as sleep } from "node:timers/promises";
import { DASHBOARD_PATH, PAGE_PATH } from "../sample-delivery.js";
import { serveCalls } from "./child-calls.js";

const REFRESH_MS = 1_000;
const OVERVIEW = "overview?range=1h";
/** What its other views read; a person looks at one after the other. */
const VIEWS = ["errors", "events", "events?state=dead", "running", "handlers", "jobs", "outbox"];

/** What is read once a second. */
type Read = (url: string) => Promise<void>;
type Round = (read: Read, round: number) => Promise<unknown>;

const readPage: Round = (read) => Promise.all([read(PAGE_PATH), read(PAGE_PATH)]);
/** One view after the other beside the overview. */
const readDashboard: Round = (read, round) => {
  const views = [OVERVIEW, VIEWS[round % VIEWS.length] ?? OVERVIEW];
  return Promise.all(views.map((view) => read(`${DASHBOARD_PATH}/api/${view}`)));
};

let watched: { ending: AbortController; ended: Promise<unknown> } | undefined;

/** Throws when something cannot be read. */
async function refresh(port: number, readRound: Round, signal: AbortSignal): Promise<void> {
  const read: Read = async (path) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal });
    await response.text();
    if (!response.ok) throw new Error(`${path} was answered ${response.status}`);
  };
  for (let round = 0; !signal.aborted; round += 1) {
    await readRound(read, round);
    await sleep(REFRESH_MS, undefined, { signal });
  }
}

async function follow(port: number, signal: AbortSignal): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}${DASHBOARD_PATH}/api/stream`, { signal });
  for await (const _ of response.body ?? []) if (signal.aborted) return;
}

function watch(open: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const ending = new AbortController();
  const ended = open(ending.signal);
  // The end tells.
  ended.catch(() => undefined);
  watched = { ending, ended };
  return Promise.resolve();
}

const calls = {
  /** Opens the dashboard, as its server sees it. */
  watchDashboard: (port: number): Promise<void> =>
    watch((signal) => Promise.all([refresh(port, readDashboard, signal), follow(port, signal)])),
  /** Reads the page of the app. */
  watchPage: (port: number): Promise<void> => watch((signal) => refresh(port, readPage, signal)),
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
