import type { Contestant } from "../contestants/contestant.js";
import { startChild } from "./child.js";
import type { Runtime } from "./runtime.js";
import type { ServerCalls } from "./server-process.js";

/** A contestant's process that listens. */
export interface RunningServer {
  pid: number;
  port: number;
  /** Runs of handlers that ended well; undefined where none are, or where the process cannot be asked. */
  countHandled(): Promise<number | undefined>;
  /** Ends the process; returns how many runs were settled in all, undefined where none are. */
  end(): Promise<number | undefined>;
}

export interface ServerPlan {
  contestant: Contestant;
  databaseFile: string;
  cores: string;
  runtime: Runtime;
  env?: Record<string, string>;
  nodeFlags: readonly string[];
}

const START_LIMIT_MS = 60_000;

export async function startServerProcess(plan: ServerPlan): Promise<RunningServer> {
  const { contestant, databaseFile, ...place } = plan;
  const child = startChild<ServerCalls>({ ...place, file: "process/server-process.ts" });
  const { pid } = child;
  try {
    const { port } = await child.call("start", { name: contestant.name, databaseFile }, START_LIMIT_MS);
    if (pid === undefined) throw new Error("the process has no id");
    return {
      pid,
      port,
      countHandled: async () => (await child.call("countHandled", undefined)) ?? undefined,
      async end() {
        try {
          return (await child.call("stop", undefined)) ?? undefined;
        } finally {
          await child.end();
        }
      },
    };
  } catch (error) {
    await child.end();
    throw error;
  }
}
