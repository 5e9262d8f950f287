import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { type Server, createServer } from "node:http";
import { join } from "node:path";
import type { Random } from "#pigeonhole/base/random.js";
import { findFreePort } from "../../support/free-port.js";
import { createContactEventMemory } from "../../support/contact-event-service.js";
import { closeServer, listen } from "../../support/listen.js";
import { type Delivered, ServiceSender, type TestEvent } from "../../support/service-sender.js";
import { MEMORY_DISK } from "../../support/memory-disk.js";
import { SECRET, type TortureConfig, type TortureProcess, startTortured } from "../process/start.js";
import { FaultFile, type SyncFault } from "../shim/shim.js";
import { type LogEntry, type Mark, encodeMark, readLog } from "./log.js";

/** How often the API takes a call and gives no answer. */
const LOST_ANSWERS = 0.2;

/** Name of the database file. */
export const DATABASE = "inbox.db";

/** A run of real processes on a folder that is recorded: every change to it, every answer, every call to the API. */
export interface Recording {
  readonly events: readonly TestEvent[];
  readonly entries: readonly LogEntry[];
}

/** What a scenario does while it is recorded. */
export interface RecordingStage {
  random: Random;
  /** Starts a process and waits until it listens. Deliveries go to those that run, in turn. */
  start: () => Promise<TortureProcess>;
  end: (tortured: TortureProcess, signal: "SIGKILL" | "SIGTERM") => Promise<void>;
  failSyncs: (fault: SyncFault) => void;
  /** Sends new events at once; resolves when each was answered or is lost. */
  deliver: (count: number) => Promise<void>;
}

export interface RecordOptions {
  shim: string;
  random: Random;
  config: Pick<TortureConfig, "entry"> & Partial<TortureConfig>;
  play: (stage: RecordingStage) => Promise<void>;
}

/** Lets a scenario play and returns what was recorded. */
export async function record(options: RecordOptions): Promise<Recording> {
  const folder = realpathSync(mkdtempSync(join(MEMORY_DISK, "pigeonhole-torture-")));
  const session = new Session(folder, options);
  try {
    return await session.run();
  } finally {
    await session.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

class Session {
  readonly #options: RecordOptions;
  readonly #folder: string;
  readonly #log: string;
  readonly #faults: FaultFile;
  readonly #events: TestEvent[] = [];
  readonly #delivered: Delivered[] = [];
  readonly #running: TortureProcess[] = [];
  readonly #ports = new Map<TortureProcess, number>();
  readonly #sender: ServiceSender;
  #api: Server | undefined;
  #turn = 0;

  constructor(folder: string, options: RecordOptions) {
    this.#options = options;
    this.#folder = join(folder, "inbox");
    this.#log = join(folder, "log");
    mkdirSync(this.#folder);
    this.#faults = new FaultFile(join(folder, "faults"));
    this.#sender = new ServiceSender({
      secret: SECRET,
      random: options.random,
      minuteMs: 1,
      port: () => this.#nextPort(),
    });
  }

  async run(): Promise<Recording> {
    const apiUrl = await this.#startApi();
    const { random, play } = this.#options;
    await play({
      random,
      start: () => this.#start(apiUrl),
      end: (tortured, signal) => this.#end(tortured, signal),
      deliver: (count) => this.#deliver(count),
      failSyncs: (fault) => this.#faults.set(fault),
    });
    const entries = readLog(this.#log);
    this.#checkMarks(entries);
    return { events: this.#events, entries };
  }

  async close(): Promise<void> {
    await Promise.all(this.#running.map((tortured) => tortured.end("SIGKILL")));
    this.#sender.close();
    if (this.#api !== undefined) await closeServer(this.#api);
  }

  /** An answer without a mark would be one that nobody checks. */
  #checkMarks(entries: readonly LogEntry[]): void {
    const marked = new Set(
      entries.flatMap((entry) => (entry.kind === "mark" && entry.mark.what === "answered" ? [entry.mark.eventId] : [])),
    );
    const unmarked = this.#delivered.filter(({ id, delivered }) => delivered && !marked.has(id));
    if (unmarked.length > 0) throw new Error(`${unmarked.length} answers were not marked.`);
  }

  #nextPort(): number {
    this.#turn += 1;
    const tortured = this.#running[this.#turn % Math.max(1, this.#running.length)];
    // Nobody listens on port 1.
    return (tortured && this.#ports.get(tortured)) ?? 1;
  }

  async #start(apiUrl: string): Promise<TortureProcess> {
    const port = await findFreePort();
    const file = join(this.#folder, DATABASE);
    const config = { file, port, secret: SECRET, apiUrl, log: this.#log, ...this.#options.config };
    const tortured = startTortured(config, {
      LD_PRELOAD: this.#options.shim,
      TORTURE_FOLDER: this.#folder,
      TORTURE_LOG: this.#log,
      TORTURE_FAULTS: this.#faults.path,
    });
    await tortured.ready;
    this.#running.push(tortured);
    this.#ports.set(tortured, port);
    return tortured;
  }

  async #end(tortured: TortureProcess, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const index = this.#running.indexOf(tortured);
    if (index >= 0) this.#running.splice(index, 1);
    await tortured.end(signal);
  }

  async #deliver(count: number): Promise<void> {
    const { random } = this.#options;
    const fresh = Array.from({ length: count }, (_, index): TestEvent => {
      const id = `evt_${this.#events.length + index}`;
      const data = { failFirst: random() < 0.15, filler: "x".repeat(Math.floor(random() ** 4 * 20_000)) };
      return { id, tasks: {}, data };
    });
    this.#events.push(...fresh);
    this.#delivered.push(...(await Promise.all(fresh.map((event) => this.#sender.deliver(event)))));
  }

  /** The mark comes first: a call that is only on its way may as well not arrive. */
  async #startApi(): Promise<string> {
    const memory = createContactEventMemory();
    const { random } = this.#options;
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("error", () => undefined);
      request.on("end", () => {
        const [path, key] = [request.url ?? "", String(request.headers["idempotency-key"])];
        const body = Buffer.concat(chunks).toString();
        this.#mark({ what: "called", path, key, body });
        const [status, result] = memory.route(path, key, body);
        if (random() < LOST_ANSWERS) request.socket.destroy();
        else response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(result));
      });
    });
    this.#api = server;
    return `http://127.0.0.1:${await listen(server)}/v1`;
  }

  #mark(mark: Mark): void {
    appendFileSync(this.#log, encodeMark(mark));
  }
}
