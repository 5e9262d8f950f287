import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DAY, SECOND } from "#pigeonhole/base/duration.js";
import { silentLogger } from "#pigeonhole/base/logger.js";
import type { Random } from "#pigeonhole/base/random.js";
import Database from "better-sqlite3";
import { createSqliteStore } from "pigeonhole";
import { type Sandbox, createSandbox } from "pigeonhole/sandbox";
import { findFreePort } from "../support/free-port.js";
import { COURIER, LEDGER } from "./process/handlers.js";
import { type TortureConfig, type TortureProcess, startTortured } from "./process/start.js";
import { SCRATCH } from "./scratch.js";
import { type DiskFaults, FaultFile } from "./shim/shim.js";
import { countEach } from "../support/count-each.js";

/** A minute of the service takes 60 ms. */
const SPEED = 1_000;
/** Once nothing goes wrong any more, something must get done within this real time, until all is done. */
const PROGRESS_MS = 60 * SECOND;
const MAX_READY_MS = 60 * SECOND;

export interface SiegeOptions {
  shim: string;
  random: Random;
  seed: string;
  entry: string;
  config?: Partial<TortureConfig>;
}

export interface SiegeResult {
  events: number;
  /** Attempts of the service, and those that were not answered 2xx. */
  attempts: number;
  failedAttempts: number;
  apiCalls: number;
  kills: number;
  /** How long it took to come to rest after the last trouble. */
  restMs: number;
  /** Events without an effect or contact event, and with more than one. */
  lost: number;
  twice: number;
  violations: string[];
}

/** A receiver process between the emulated service and a disk and a clock that can be made to fail. */
export class Siege {
  readonly sandbox: Sandbox;
  readonly #options: SiegeOptions;
  readonly #folder: string;
  readonly #faults: FaultFile;
  readonly #ids: string[] = [];
  readonly #violations: string[] = [];
  /** The last attempt of an event when it was sent again by hand. */
  readonly #replayed = new Map<string, string>();
  #endpointId = "";
  #config: TortureConfig | undefined;
  #process: TortureProcess | undefined;
  #apiCalls = 0;
  #kills = 0;
  #lost = 0;
  #twice = 0;
  #deliver: Promise<void> | undefined;
  #isOver = false;

  constructor(options: SiegeOptions) {
    this.#options = options;
    this.#folder = realpathSync(mkdtempSync(join(SCRATCH, "pigeonhole-siege-")));
    mkdirSync(join(this.#folder, "inbox"));
    this.#faults = new FaultFile(join(this.#folder, "faults"));
    this.sandbox = createSandbox({
      seed: options.seed,
      clock: { speed: SPEED },
      limits: { eventsPerMinute: 600_000 },
      assumptions: { retriesOfDisabled: "kept" },
      onLog: ({ kind }) => {
        if (kind === "api") this.#apiCalls += 1;
      },
    });
  }

  get file(): string {
    return join(this.#folder, "inbox", "inbox.db");
  }

  get kills(): number {
    return this.#kills;
  }

  get events(): number {
    return this.#ids.length;
  }

  get apiCalls(): number {
    return this.#apiCalls;
  }

  /** Starts everything; events come until `finish`, so many a second. */
  async begin(eventsPerSecond: number): Promise<void> {
    const port = await findFreePort();
    const { secret, id } = this.sandbox.endpoints.create({ url: `http://127.0.0.1:${port}/hooks` });
    this.#endpointId = id;
    const { url } = await this.sandbox.listen();
    this.#config = {
      entry: this.#options.entry,
      file: this.file,
      port,
      secret,
      apiUrl: url,
      apiKey: this.sandbox.apiKey,
      // Neither in the future nor too old by any clock of the siege.
      occurredAt: new Date(Date.now() - 30 * DAY).toISOString(),
      ...this.#options.config,
    };
    await this.start();
    this.#deliver = this.#emit(eventsPerSecond);
  }

  async start(): Promise<void> {
    if (this.#config === undefined) throw new Error("The siege has not begun.");
    this.#process = startTortured(this.#config, {
      LD_PRELOAD: this.#options.shim,
      TORTURE_FOLDER: join(this.#folder, "inbox"),
      TORTURE_FAULTS: this.#faults.path,
    });
    const late = sleep(MAX_READY_MS, "late" as const, { ref: false });
    if ((await Promise.race([this.#process.ready, late])) === "late") throw new Error("A receiver does not start.");
  }

  /** Starts a receiver that may fail to, as under a broken disk. */
  async tryToStart(): Promise<boolean> {
    return this.start().then(
      () => true,
      () => false,
    );
  }

  /** Starts it unless it runs. */
  async startAgain(): Promise<void> {
    if (this.#process?.hasEnded !== false) await this.start();
  }

  async kill(): Promise<void> {
    this.#kills += 1;
    await this.#process?.end("SIGKILL");
  }

  async stop(): Promise<void> {
    await this.#process?.end("SIGTERM");
  }

  setFaults(faults: Partial<DiskFaults>): void {
    this.#faults.set(faults);
  }

  /** Ends all trouble, waits until everything is done, and says what is wrong in the end. */
  async finish(): Promise<SiegeResult> {
    this.#isOver = true;
    await this.#deliver;
    this.#faults.set({ clockMillis: 0 });
    this.sandbox.faults.clear();
    const begunAt = Date.now();
    const left = await this.#comeToRest();
    const restMs = Date.now() - begunAt;
    if (left !== "") this.#violations.push(`did not come to rest, nothing got done for ${PROGRESS_MS} ms: ${left}`);
    await this.stop();
    if (left === "") this.#violations.push(...(await this.#findWrong()));
    const rows = this.sandbox.deliveries();
    return {
      events: this.#ids.length,
      attempts: rows.length,
      failedAttempts: rows.filter(({ status }) => status !== "delivered").length,
      apiCalls: this.#apiCalls,
      kills: this.#kills,
      restMs,
      lost: this.#lost,
      twice: this.#twice,
      violations: this.#violations,
    };
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#process?.end("SIGKILL");
    await this.sandbox.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #emit(eventsPerSecond: number): Promise<void> {
    const { random } = this.#options;
    while (!this.#isOver) {
      const burst = 1 + Math.floor(random() * 8);
      for (let left = burst; left > 0; left -= 1) this.#emitOne(random);
      await sleep((burst * SECOND * 2 * random()) / eventsPerSecond);
    }
  }

  #emitOne(random: Random): void {
    // The owner of an endpoint that the service has switched off switches it on again.
    if (!this.sandbox.endpoints.get(this.#endpointId).enabled) {
      this.sandbox.endpoints.update(this.#endpointId, { enabled: true });
    }
    const id = `evt_${this.#ids.length}`;
    const { deliveries } = this.sandbox.emit("email.sent", { failFirst: random() < 0.1 }, { id });
    if (deliveries.length > 0) this.#ids.push(id);
  }

  /** Gives what is left when nothing gets done any more; empty when all is done. */
  async #comeToRest(): Promise<string> {
    let least = Infinity;
    let untilMs = Date.now() + PROGRESS_MS;
    for (;;) {
      if (this.#process === undefined || this.#process.hasEnded) await this.start();
      const { count, text } = await this.#whatIsLeft();
      if (count === 0) return "";
      if (count < least) untilMs = Date.now() + PROGRESS_MS;
      if (Date.now() >= untilMs) return text;
      least = Math.min(least, count);
      await sleep(50);
    }
  }

  async #whatIsLeft(): Promise<{ count: number; text: string }> {
    const endpoint = this.sandbox.endpoints.get(this.#endpointId);
    if (!endpoint.enabled) this.sandbox.endpoints.update(this.#endpointId, { enabled: true });
    const undelivered = this.#replayMissing();
    const answer = await fetch(`http://127.0.0.1:${this.#config?.port}/tidy`, {
      signal: AbortSignal.timeout(15_000),
    }).catch(() => undefined);
    if (answer?.ok !== true) {
      // A store that an error of the disk has broken takes nothing more until its process is started again.
      await this.stop();
      return { count: Infinity, text: "a broken receiver" };
    }
    const lefts = Object.entries({ ...((await answer.json()) as Record<string, number>), undelivered });
    return {
      count: lefts.reduce((sum, [, count]) => sum + count, 0),
      text: lefts.flatMap(([what, count]) => (count > 0 ? [`${count} ${what}`] : [])).join(", "),
    };
  }

  /**
   * The owner has the service send again what has not arrived; gives how many events that are. One whose first attempt
   * was never made, since the endpoint was off by then, is lost by the service's rules.
   */
  #replayMissing(): number {
    const rows = this.sandbox.deliveries();
    const arrived = new Set(rows.filter(({ status }) => status === "delivered").map(({ eventId }) => eventId));
    const last = new Map(rows.map((row) => [row.eventId, row]));
    const missing = this.#ids.filter((id) => !arrived.has(id) && last.has(id));
    for (const id of missing) {
      const row = last.get(id);
      const isNew = row !== undefined && this.#replayed.get(id) !== row.id;
      if (row === undefined || !isNew) continue;
      this.#replayed.set(id, row.id);
      void this.sandbox.endpoints.replay(this.#endpointId, row.id).catch(() => undefined);
    }
    return missing.length;
  }

  async #findWrong(): Promise<string[]> {
    const wrong: string[] = [];
    const db = new Database(this.file, { readonly: true });
    const integrity = String(db.pragma("integrity_check", { simple: true }));
    if (integrity !== "ok") wrong.push(`integrity_check: ${integrity}`);
    const effects = countEach(db.prepare<[], string>("SELECT event_id FROM effect").pluck().all());
    db.close();
    const stored = countEach(
      this.sandbox.contactEvents.map(({ name, properties }) => `${name} ${String(properties["eventId"])}`),
    );
    const store = createSqliteStore({ file: this.file, thread: false });
    await store.open({ logger: silentLogger });
    for (const id of this.#ids) {
      // Never sent.
      if (this.sandbox.deliveries({ eventId: id }).length === 0) continue;
      const event = await store.getEvent(id);
      const isDone = event?.handlers.length === 2 && event.handlers.every(({ state }) => state === "done");
      const counts = [id, `${LEDGER}.done ${id}`, `${COURIER}.done ${id}`].map((key, index) =>
        index === 0 ? (effects.get(key) ?? 0) : (stored.get(key) ?? 0),
      );
      if (!isDone || counts.includes(0)) this.#lost += 1;
      if (counts.some((count) => count > 1)) this.#twice += 1;
      if (!isDone || counts.some((count) => count !== 1))
        wrong.push(`${id}: done ${isDone}, times ${counts.join(", ")}`);
    }
    await store.close();
    return wrong;
  }
}
