import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Contestant } from "../contestants/contestant.js";
import { SECRET } from "../sample-delivery.js";
import { endWithUs, startChild } from "./child.js";
import type { PerfLab } from "./perf-lab.js";
import { pinCommand } from "./pinning.js";
import type { Runtime } from "./runtime.js";
import type { ServerCalls } from "./server-process.js";
import { findFreePort } from "../../support/free-port.js";

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
  perfLab: PerfLab;
  env?: Record<string, string>;
  nodeFlags: readonly string[];
}

const START_LIMIT_MS = 60_000;
const END_LIMIT_MS = 5_000;

export function startServerProcess(plan: ServerPlan): Promise<RunningServer> {
  const { run } = plan.contestant;
  return "start" in run ? startOurs(plan) : startPrototype(plan, run.prototype);
}

async function startOurs(plan: ServerPlan): Promise<RunningServer> {
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

/** A program of its own, which says on its output that it is ready, and at its end how many runs it marked done. */
async function startPrototype(plan: ServerPlan, options: object): Promise<RunningServer> {
  const { cores, nodeFlags, perfLab, runtime } = plan;
  if (!perfLab.ok) throw new Error(perfLab.reason);
  const port = await findFreePort();
  const args = [...nodeFlags, "recv.mjs", JSON.stringify(options), String(port)];
  const command = pinCommand(cores, [runtime.node, ...args]);
  const env = { ...process.env, NODE_ENV: "production", ...plan.env, ...perfLab.environment, SECRET };
  const child = spawn(command.file, command.args, { cwd: perfLab.folder, env, stdio: ["ignore", "pipe", "inherit"] });
  endWithUs(child);
  let output = "";
  const isReady = new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (output.includes("ready")) resolve();
    });
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the prototype ended with ${code}`)));
    setTimeout(() => reject(new Error("the prototype is not ready in time")), START_LIMIT_MS).unref();
  });
  await isReady.catch((error: unknown) => {
    child.kill("SIGKILL");
    throw error;
  });
  return {
    pid: child.pid ?? Number.NaN,
    port,
    countHandled: () => Promise.resolve(undefined),
    async end() {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await Promise.race([ended, sleep(END_LIMIT_MS, undefined, { ref: false })]);
      child.kill("SIGKILL");
      const marked = /marked=(\d+)/.exec(output);
      return "process" in options && options.process === true && marked ? Number(marked[1]) : undefined;
    },
  };
}
