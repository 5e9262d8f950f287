import { findContestant } from "../contestants/catalogue.js";
import type { RunningContestant } from "../contestants/contestant.js";
import { serveCalls } from "./child-calls.js";

let running: RunningContestant | undefined;
/** Runs that were settled in the file before the load. */
let settledBefore = 0;

const calls = {
  /** Starts the contestant on a free port of the loopback interface. */
  async start(plan: { name: string; databaseFile: string }): Promise<{ port: number }> {
    const { run } = findContestant(plan.name);
    if (!("start" in run)) throw new Error(`${plan.name} is no server of this folder`);
    const started = await run.start({ databaseFile: plan.databaseFile });
    running = started;
    settledBefore = (await started.countSettled?.()) ?? 0;
    await new Promise<void>((resolve) => started.server.listen(0, "127.0.0.1", 511, resolve));
    const address = started.server.address();
    if (address === null || typeof address === "string") throw new Error("the server listens on no port");
    return { port: address.port };
  },
  /** Runs of handlers that ended well; null where the contestant runs none. */
  countHandled(): Promise<number | null> {
    return Promise.resolve(running?.countHandled?.() ?? null);
  },
  /** Stops it; returns how many runs were settled in its store since the start, null where none are. */
  async stop(): Promise<number | null> {
    running?.server.closeAllConnections();
    running?.server.close();
    const settled = await running?.countSettled?.();
    await running?.stop?.();
    return settled === undefined ? null : settled - settledBefore;
  },
};

export type ServerCalls = typeof calls;

serveCalls(calls);
