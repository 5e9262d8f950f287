import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { startProgram } from "./start-program.js";

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
  /** How long each run takes at the least. */
  stepMs?: number;
  /** Types in whose schema a subject is text; other events have a handler too. */
  withSubject?: readonly string[];
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
 * Starts a receiver on the built package, run by plain node, with `env` beside this process's own; or another program.
 * It ends with the test.
 */
export function startReceiver(config: object, env: Record<string, string> = {}, program = script): ReceiverProcess {
  const args = [program, JSON.stringify(config)];
  const { child, ended, lines, line, signal } = startProgram({ command: process.execPath, args, env });
  const { pid } = child;
  if (pid === undefined) throw new Error("The receiver process did not start.");
  const read = (text: string): Line => JSON.parse(text) as Line;
  let hasEnded = false;
  const ending = ended.then(({ code, signal: by, stderr }): Ending => {
    hasEnded = true;
    if (stderr !== "") process.stderr.write(`receiver process ${pid}: ${stderr}`);
    return { code, signal: by };
  });
  return {
    pid,
    signal,
    ended: ending,
    get lines() {
      return lines.map(read);
    },
    get hasEnded() {
      return hasEnded;
    },
    line: (msg) => line(new RegExp(`"msg":"${msg}"`)).then(read, () => undefined),
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
