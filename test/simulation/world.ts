import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HOUR, MINUTE } from "#pigeonhole/base/duration.js";
import Database from "better-sqlite3";
import { EVENT_TYPES } from "pigeonhole";
import {
  type ManualClock,
  type Sandbox,
  type SandboxLogEntry,
  type StoredEvent,
  createManualClock,
  createSandbox,
} from "pigeonhole/sandbox";
import { EFFECT_TABLE } from "./handlers.js";
import type { Life } from "./life.js";
import { type Kit, Machine } from "./machine.js";
import type { Happening, SeedPlan } from "./plan.js";

/** Everything that can be seen of a seed's world when it has come to rest. */
export interface History {
  seed: number;
  /** The events that the service fired, in order; `heard`: the endpoint was on. */
  fired: { id: string; type: string; atMs: number; heard: boolean }[];
  /** What the service saw. */
  log: SandboxLogEntry[];
  /** The rows of the user's table. */
  effects: { eventId: string }[];
  /** Ids in the inbox. */
  received: string[];
  /** What the service holds. */
  contactEvents: StoredEvent[];
  /** What did not come to rest; undefined when everything did. */
  unfinished: string | undefined;
  /** What the receiver really went through, in words. */
  met: ReadonlySet<string>;
}

/** A memory file system where there is one: FULL waits for the disk at every commit. */
const SCRATCH = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

const MOST_REST_MS = 400 * HOUR;

/** Lets a seed's world run to its end. */
export async function simulate(plan: SeedPlan, kit: Kit): Promise<History> {
  const folder = mkdtempSync(join(SCRATCH, "pigeonhole-simulation-"));
  try {
    return await new World(plan, kit, folder).run();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

class World {
  readonly #plan: SeedPlan;
  readonly #clock: ManualClock = createManualClock();
  readonly #sandbox: Sandbox;
  readonly #machine: Machine;
  readonly #endpointId: string;
  readonly #todo: { atMs: number; happening: Happening }[];
  readonly #log: SandboxLogEntry[] = [];
  readonly #fired: History["fired"] = [];
  readonly #met = new Set<string>();
  #secrets: string[];

  constructor(plan: SeedPlan, kit: Kit, folder: string) {
    this.#plan = plan;
    this.#todo = [...plan.happenings];
    this.#sandbox = createSandbox({
      clock: this.#clock,
      seed: plan.seed,
      retriesOfDisabled: plan.retriesOfDisabled,
      receive: (request) => this.#machine.receive(request),
      onLog: (entry) => this.#onLog(entry),
    });
    const endpoint = this.#sandbox.endpoints.create({
      url: "http://receiver.test/hooks",
      eventTypes: [...EVENT_TYPES],
    });
    this.#endpointId = endpoint.id;
    this.#secrets = [endpoint.secret];
    const file = join(folder, "inbox.db");
    new Database(file).exec(EFFECT_TABLE).close();
    this.#machine = new Machine({
      seed: plan.seed,
      kit,
      clock: this.#clock,
      folder,
      file,
      secrets: () => this.#secrets,
      sandbox: () => this.#sandbox,
      onCrash: (place) => void this.#met.add(`crash: ${place}`),
    });
  }

  async run(): Promise<History> {
    this.#machine.start();
    await this.#sandbox.advance(0);
    for (let next = this.#takeNext(); next !== undefined; next = this.#takeNext()) {
      await this.#sandbox.advance(Math.max(0, next.atMs - this.#clock.elapsedMs));
      this.#happen(next.happening);
    }
    this.#sandbox.faults.clear();
    const unfinished = await this.#comeToRest();
    await this.#machine.stop();
    await this.#sandbox.close();
    return {
      seed: this.#plan.seed,
      fired: this.#fired,
      log: this.#log,
      contactEvents: [...this.#sandbox.contactEvents],
      unfinished,
      met: this.#met,
      ...readFile(this.#machine.file),
    };
  }

  #takeNext(): { atMs: number; happening: Happening } | undefined {
    this.#todo.sort((a, b) => a.atMs - b.atMs);
    return this.#todo.shift();
  }

  #later(ms: number, happening: Happening): void {
    this.#todo.push({ atMs: this.#clock.elapsedMs + ms, happening });
  }

  #happen(happening: Happening): void {
    const { faults, endpoints } = this.#sandbox;
    const machine = this.#machine;
    switch (happening.kind) {
      case "event": {
        const { event, deliveries } = this.#sandbox.emit(happening.type);
        const { id, type } = event;
        this.#fired.push({ id, type, atMs: this.#clock.now(), heard: deliveries.length > 0 });
        return;
      }
      case "crash":
        return machine.expectCrash(happening.crash);
      case "restart":
        return void machine.restart();
      case "cut_off":
        machine.isCutOff = true;
        return this.#later(happening.forMs, { kind: "over", end: () => (machine.isCutOff = false) });
      case "delivery_fault":
        return this.#later(happening.forMs, { kind: "over", end: faults.deliveries.add(happening.rule) });
      case "api_fault":
        return this.#later(happening.forMs, { kind: "over", end: faults.api.add(happening.rule) });
      case "clock_off":
        machine.skewMs = happening.byMs;
        return this.#later(happening.forMs, { kind: "over", end: () => (machine.skewMs = 0) });
      case "rotation": {
        const { secret } = endpoints.rotateSecret(this.#endpointId);
        const handOver = (): void => void (this.#secrets = [secret]);
        return this.#later(happening.handedOverAfterMs, { kind: "over", end: handOver });
      }
      case "owner_looks":
        return this.#ownerLooks();
      case "over":
        return happening.end();
    }
  }

  #onLog(entry: SandboxLogEntry): void {
    this.#log.push(entry);
    if (entry.kind === "attempt" && entry.row.fault !== null) this.#met.add(`delivery: ${entry.row.fault}`);
    if (entry.kind === "attempt" && entry.row.responseCode === 503) this.#met.add("answered 503");
    if (entry.kind === "endpoint") this.#met.add(`endpoint: ${entry.change}`);
    // The service mails the owner.
    if (entry.kind === "endpoint" && entry.change === "disabled") {
      this.#later(this.#plan.ownerTakesMs, { kind: "owner_looks" });
    }
  }

  #ownerLooks(): void {
    const { endpoints } = this.#sandbox;
    if (endpoints.get(this.#endpointId).enabled) return;
    this.#met.add("switched on again");
    endpoints.update(this.#endpointId, { enabled: true });
    if (!this.#plan.ownerReplays) return;
    const rows = this.#sandbox.deliveries({ endpointId: this.#endpointId });
    const arrived = new Set(rows.filter(({ status }) => status === "delivered").map(({ eventId }) => eventId));
    const lastFailed = new Map(rows.map((row) => [row.eventId, row]));
    for (const [eventId, row] of lastFailed) {
      // It may be switched off once more while these are on their way.
      if (!arrived.has(eventId)) void endpoints.replay(this.#endpointId, row.id).catch(() => undefined);
    }
  }

  /** Time passes until nothing is left to do. What was given up for reasons that are over is begun again by hand. */
  async #comeToRest(): Promise<string | undefined> {
    let left = "nothing was looked at";
    const endMs = this.#clock.elapsedMs + MOST_REST_MS;
    while (this.#clock.elapsedMs < endMs) {
      if (this.#machine.failure !== undefined) throw this.#machine.failure;
      await this.#sandbox.advance(30 * MINUTE);
      const now = this.#clock.elapsedMs;
      const due = this.#todo.filter(({ atMs }) => atMs <= now);
      for (const entry of due) {
        this.#todo.splice(this.#todo.indexOf(entry), 1);
        this.#happen(entry.happening);
      }
      left = await this.#whatIsLeft();
      if (left === "") return undefined;
    }
    return left;
  }

  async #whatIsLeft(): Promise<string> {
    const life = this.#machine.serving;
    if (this.#todo.length > 0 || life === undefined) return "the machine";
    if (this.#sandbox.openDeliveries > 0) return `${this.#sandbox.openDeliveries} deliveries`;
    try {
      return await Promise.race([this.#tidyUp(life), life.death]);
    } catch (error) {
      // A crash may still be due, and come while somebody looks.
      if (!life.isAlive) return "the machine";
      throw error;
    }
  }

  async #tidyUp({ receiver, store, clock }: Life): Promise<string> {
    if (receiver === undefined || store === undefined) return "the machine";
    clock.wake();
    const { pending, leased, parked, dead, outbox } = await receiver.stats();
    if (parked > 0) {
      this.#met.add("parked after four crashes");
      await receiver.inbox.retryAll({ state: "parked" });
    }
    if (outbox.dead > 0) {
      this.#met.add("contact event dead");
      const { items } = await store.listOutbox({ state: "dead", limit: 500 });
      for (const { key } of items) await store.retryOutbox(key, clock.now());
    }
    const counts = { pending, leased, parked, dead, sends: outbox.pending + outbox.leased + outbox.dead };
    return Object.entries(counts)
      .filter(([, count]) => count > 0)
      .map(([what, count]) => `${count} ${what}`)
      .join(", ");
  }
}

function readFile(file: string): Pick<History, "effects" | "received"> {
  const db = new Database(file, { readonly: true });
  try {
    return {
      effects: db.prepare<[], { eventId: string }>("SELECT event_id AS eventId FROM effect").all(),
      received: db.prepare<[], string>("SELECT id FROM inbox_event").pluck().all(),
    };
  } finally {
    db.close();
  }
}
