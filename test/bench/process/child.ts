import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CallMessage, Calls, ReplyMessage } from "./child-calls.js";
import { pinCommand } from "./pinning.js";
import type { Runtime } from "./runtime.js";

/** A child process with typed calls. */
export interface Child<C extends Calls> {
  readonly pid: number | undefined;
  /** Calls a function of the child; rejects with its error, when it ends, or after the time limit. */
  call<N extends keyof C & string>(
    name: N,
    argument: Parameters<C[N]>[0],
    limitMs?: number,
  ): Promise<Awaited<ReturnType<C[N]>>>;
  /** Ends the process, first gently. */
  end(): Promise<void>;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** Has no paths, so that the package is what was built: tsx would call a function for each closure of the source. */
const TSX_TSCONFIG_PATH = fileURLToPath(new URL("built.tsconfig.json", import.meta.url));

const DEFAULT_LIMIT_MS = 120_000;
const TERM_MS = 2_000;

const running = new Set<ChildProcess>();

process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));

/** Kills the child when this process ends, however that happens. */
export function endWithUs(child: ChildProcess): void {
  running.add(child);
  child.once("exit", () => running.delete(child));
}

/**
 * Starts a file of the benchmark in its own process, TypeScript through tsx, pinned to the cores if that is possible.
 */
export function startChild<C extends Calls>(options: {
  /** Path below `test/bench`. */
  file: string;
  runtime: Runtime;
  /** Such as "0" or "0,1". */
  cores: string;
  env?: Record<string, string>;
  /** Further arguments of Node itself. */
  nodeFlags?: readonly string[];
}): Child<C> {
  const { node, home } = options.runtime;
  const path = join(home, "test/bench", options.file);
  const command = pinCommand(options.cores, [node, ...(options.nodeFlags ?? []), "--import", "tsx", path]);
  const child = spawn(command.file, command.args, {
    cwd: home,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    env: { ...process.env, NODE_ENV: "production", TSX_TSCONFIG_PATH, ...options.env },
  });
  endWithUs(child);

  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  let endedBy: string | undefined;
  const fail = (reason: string): void => {
    endedBy ??= reason;
    for (const call of waiting.values()) call.reject(new Error(`${path} ${reason}`));
    waiting.clear();
  };
  child.on("error", (error) => fail(`did not start: ${error.message}`));
  child.on("exit", (code, signal) => fail(`ended with ${signal ?? `code ${code}`}`));
  child.on("message", (reply: ReplyMessage) => {
    const call = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.error === undefined) call?.resolve(reply.value);
    else call?.reject(new Error(reply.error));
  });

  return {
    pid: child.pid,
    call(name, argument, limitMs = DEFAULT_LIMIT_MS) {
      if (endedBy !== undefined) return Promise.reject(new Error(`${path} ${endedBy}`));
      lastId += 1;
      const message: CallMessage = { id: lastId, name, argument };
      return new Promise((resolve, reject) => {
        const limit = setTimeout(() => {
          waiting.delete(message.id);
          reject(new Error(`${path}: no answer to ${name} within ${limitMs} ms`));
        }, limitMs);
        waiting.set(message.id, {
          resolve(value: Awaited<ReturnType<C[typeof name]>>) {
            clearTimeout(limit);
            resolve(value);
          },
          reject(error) {
            clearTimeout(limit);
            reject(error);
          },
        });
        child.send(message);
      });
    },
    async end() {
      if (endedBy !== undefined) return;
      const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      child.kill("SIGTERM");
      const force = setTimeout(() => child.kill("SIGKILL"), TERM_MS);
      await ended;
      clearTimeout(force);
    },
  };
}
