import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** What `cluster-receiver.mjs` is started with. */
export interface ClusterReceiverConfig {
  databaseUrl: string;
  schema: string;
  /** Table of the handler's effects. */
  effects: string;
  port: number;
  secret: string;
  apiUrl: string;
  apiKey: string;
}

const SCRIPT = fileURLToPath(new URL("cluster-receiver.mjs", import.meta.url));

/** A place for a receiver process, which is started again after each death. */
export class ClusterProcess {
  static readonly #running = new Set<ChildProcess>();
  static {
    process.on("exit", () => {
      for (const child of ClusterProcess.#running) child.kill("SIGKILL");
    });
  }

  readonly config: ClusterReceiverConfig;
  /** Names of what its processes logged, from the level warn on. */
  readonly logged: string[] = [];
  #child: ChildProcess | undefined;

  constructor(config: ClusterReceiverConfig) {
    this.config = config;
  }

  /** Resolves when it listens. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, [SCRIPT, JSON.stringify(this.config)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#child = child;
    ClusterProcess.#running.add(child);
    child.once("exit", () => ClusterProcess.#running.delete(child));
    const lines = createInterface({ input: child.stdout });
    const ready = new Promise<void>((resolve, reject) => {
      lines.on("line", (line) => {
        if (line === "ready") resolve();
        else this.logged.push((JSON.parse(line) as { msg: string }).msg);
      });
      child.once("exit", () => reject(new Error("A receiver ended before it was ready.")));
    });
    await ready;
  }

  /** `SIGSTOP` lets a process sleep until `SIGCONT`. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#child?.kill(signal);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }
}
