import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { endWithTest } from "./end-with-test.js";

export { findFreePort } from "./free-port.js";

/** What `receiver-process.mjs` is started with. */
export interface ReceiverConfig {
  file: string;
  port: number;
  secret: string;
  handlers: Record<
    string,
    | { kind: "commit" | "append" | "newest"; types?: string; concurrency?: number; timeoutMs?: number }
    | { kind: "batch"; types?: string; max?: number; wait?: string }
  >;
  /** Where handlers of kind `append` write. */
  sideFile?: string;
  concurrency?: number;
  retry?: { maxAttempts?: number; initialMs?: number };
  /** What SIGTERM gives running handlers. */
  stopTimeoutMs?: number;
  /** Whether SIGTERM closes the listener before `stop()` or after it. */
  closeListenerFirst?: boolean;
  /** `serve` unless given. */
  mode?: "serve" | "start-and-stop" | "start-only";
}

/** What one handler does with one event; `data.tasks` has one per handler name. */
export interface Task {
  waitMs?: number;
  die?: "exit" | "kill";
  /** Without it the process dies before the handler's first await. */
  dieAfterMs?: number;
  failFirst?: boolean;
  /** Of a batch: each attempt on the event is the last one. */
  failForGood?: boolean;
  /** Hangs in its first attempt until `ctx.signal` says stop. */
  untilAborted?: boolean;
  tellStart?: boolean;
}

/** A line of the child's standard output: its log and its reports. */
export type Line = { msg: string } & Record<string, unknown>;

export interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A running receiver process. */
export interface ReceiverProcess {
  readonly pid: number;
  readonly lines: readonly Line[];
  readonly hasEnded: boolean;
  /** Resolves with the first such line, also when it came already; undefined when the process ended without one. */
  line(msg: string): Promise<Line | undefined>;
  readonly ended: Promise<Ending>;
  signal(signal: NodeJS.Signals): void;
}

const script = fileURLToPath(new URL("receiver-process.mjs", import.meta.url));
/**
 * Starts a receiver on the built package, run by plain node, with `environment` beside this process's own; or another
 * program. It ends with the test.
 */
export function startReceiver(
  config: object,
  environment: Record<string, string> = {},
  program = script,
): ReceiverProcess {
  const args = [program, JSON.stringify(config)];
  const env = { ...process.env, ...environment };
  const child = endWithTest(spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], env }));
  const lines: Line[] = [];
  const wakers = new Set<() => void>();
  let hasEnded = false;
  let errors = "";

  const wake = (): void => {
    for (const waker of wakers) waker();
  };
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  createInterface({ input: child.stdout }).on("line", (text) => {
    lines.push(JSON.parse(text) as Line);
    wake();
  });
  const ended = new Promise<Ending>((resolve) => {
    child.on("close", (code, signal) => {
      hasEnded = true;
      if (errors !== "") process.stderr.write(`receiver process ${child.pid}: ${errors}`);
      wake();
      resolve({ code, signal });
    });
  });
  if (child.pid === undefined) throw new Error("The receiver process did not start.");
  return {
    pid: child.pid,
    lines,
    ended,
    get hasEnded() {
      return hasEnded;
    },
    line(msg) {
      return new Promise((resolve) => {
        const look = (): void => {
          const found = lines.find((line) => line.msg === msg);
          if (found === undefined && !hasEnded) return;
          wakers.delete(look);
          resolve(found);
        };
        wakers.add(look);
        look();
      });
    },
    signal: (signal) => void child.kill(signal),
  };
}

/** A receiver that is started again whenever it dies. */
export interface Supervisor {
  /** Ends so far, the stop at last not counted. */
  readonly deaths: readonly Ending[];
  /** The process that runs now, or is just starting. */
  readonly current: ReceiverProcess;
  /** Ends it gently; resolves with how it ended. */
  stop(): Promise<Ending>;
}

/** Starts a receiver again whenever it dies, as a service manager does, `mostDeaths` times at the most. */
export function superviseReceiver(config: ReceiverConfig, mostDeaths = 20): Supervisor {
  const deaths: Ending[] = [];
  let current = startReceiver(config);
  let stopping = false;

  function watch(): void {
    void current.ended.then((ending) => {
      if (stopping) return;
      deaths.push(ending);
      if (deaths.length === mostDeaths) return;
      current = startReceiver(config);
      watch();
    });
  }

  onTestFinished(() => void (stopping = true));
  watch();
  return {
    deaths,
    get current() {
      return current;
    },
    async stop() {
      await current.line("ready");
      stopping = true;
      current.signal("SIGTERM");
      return current.ended;
    },
  };
}
