import { fileURLToPath } from "node:url";
import { type ReceiverProcess, startReceiver } from "../support/receiver-process.js";

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
  readonly config: ClusterReceiverConfig;
  readonly #started: ReceiverProcess[] = [];

  constructor(config: ClusterReceiverConfig) {
    this.config = config;
  }

  /** Names of what its processes logged, from the level warn on. */
  get logged(): string[] {
    return this.#started.flatMap(({ lines }) => lines.map(({ msg }) => msg));
  }

  /** Resolves when it listens. */
  async start(): Promise<void> {
    const started = startReceiver(this.config, {}, SCRIPT);
    this.#started.push(started);
    if ((await started.line("ready")) === undefined) throw new Error("A receiver ended before it was ready.");
  }

  /** `SIGSTOP` lets a process sleep until `SIGCONT`. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#started.at(-1)?.signal(signal);
  }

  async kill(): Promise<void> {
    const last = this.#started.at(-1);
    last?.signal("SIGKILL");
    await last?.ended;
  }
}
