import { findContestant } from "../contestants/catalogue.js";
import type { RunningContestant } from "../contestants/contestant.js";
import { serveCalls } from "./child-calls.js";
import { readCpuTime, type CpuTime } from "./cpu-time.js";

let running: RunningContestant | undefined;

const calls = {
  /** Starts the contestant on a free port of the loopback interface. */
  async start(plan: { name: string; databaseFile: string }): Promise<{ port: number }> {
    const started = await findContestant(plan.name).start({ databaseFile: plan.databaseFile });
    running = started;
    await new Promise<void>((resolve) => started.server.listen(0, "127.0.0.1", resolve));
    const address = started.server.address();
    if (address === null || typeof address === "string") throw new Error("the server listens on no port");
    return { port: address.port };
  },
  cpuTime(): Promise<CpuTime> {
    return Promise.resolve(readCpuTime());
  },
  /** Events whose handling is done; null where the contestant handles none. */
  async countHandled(): Promise<number | null> {
    return (await running?.countHandled?.()) ?? null;
  },
  async stop(): Promise<void> {
    running?.server.closeAllConnections();
    running?.server.close();
    await running?.stop?.();
  },
};

export type ServerCalls = typeof calls;

serveCalls(calls);
