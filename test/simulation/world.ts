import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { HOUR, MINUTE } from "#pigeonhole/base/duration.js";
import Database from "better-sqlite3";
import { EVENT_TYPES, type EventType } from "pigeonhole";
import { type Sandbox, type SandboxLogEntry, type StoredEvent, createSandbox } from "pigeonhole/sandbox";
import { makeFirstFile } from "./first-file.js";
import { HISTORIAN, OLD_EVENTS, hasHandler, longestQueueMs } from "./handlers.js";
import type { Life } from "./life.js";
import { type Kit, Machine } from "./machine.js";
import type { Happening, SeedPlan } from "./plan.js";
import { forgetConnections } from "./power.js";
import { createWorldClock, watchProgress } from "./world-clock.js";
import { MEMORY_DISK } from "../support/memory-disk.js";
import { operate, retryOutbox } from "../support/operate.js";

/** Everything that can be seen of a seed's world when it has come to rest. */
export interface History {
  seed: number;
  /** The events that the service fired, in order; `delivered`: the endpoint was on. */
  fired: { id: string; type: string; createdAt: string; atMs: number; delivered: boolean }[];
  /** What the service saw. */
  log: SandboxLogEntry[];
  /** Ids of the events that each handler has written, in that order. */
  effects: Readonly<Record<string, readonly string[]>>;
  /** Ids in the inbox but for those of before, in the order of acceptance. */
  received: string[];
  /** What the service holds. */
  contactEvents: StoredEvent[];
  /** What was seen to be wrong on the way. */
  wrong: string[];
  /** What did not come to rest; undefined when everything did. */
  unfinished: string | undefined;
  /** What the receiver really went through, in words. */
  met: ReadonlySet<string>;
  /** Of the event loop. Other turns show two calls that may pass each other, before that has an effect. */
  turns: number;
}

/** What the world calls left when all handlers are through. */
const ONLY_SENDS = /^\d+ sends$/;

const MAX_REST_MS = 400 * HOUR;

/**
 * Once everything was delivered, and no process died, all work is done within this time (the longest back-offs, and
 * late timers) and the time for which work waits for the runs before it.
 */
const MAX_DELAY_MS = 6 * HOUR;

/** How often the owner looks in the end. */
const LOOK_MS = HOUR;
/**
 * How often he puts dead contact events back before he gives up: what a clock was ahead for is refused until its time
 * has come.
 */
const MAX_PUT_BACK = 10;

/**
 * Real milliseconds after which a delivery counts as hanging: on a slow disk it waits for the time of the world, which
 * stands still until the delivery is given up or answered.
 */
const SLOW_DISK_PATIENCE_MS = 300;

/** Lets a seed's world run to its end. */
export async function simulate(plan: SeedPlan, kit: Kit): Promise<History> {
  const folder = mkdtempSync(join(MEMORY_DISK, "pigeonhole-simulation-"));
  try {
    const file = await makeFirstFile(folder, { seed: plan.seed, kit, now: createWorldClock().now() });
    const world = new World({ plan, kit, folder, file });
    const watch = watchProgress(world.clock);
    return await Promise.race([world.run(), watch.still]).finally(watch.end);
  } finally {
    forgetConnections(folder);
    rmSync(folder, { recursive: true, force: true });
  }
}

interface WorldParts {
  plan: SeedPlan;
  kit: Kit;
  /** For the files of all lives. */
  folder: string;
  /** The file that the first life finds. */
  file: string;
}

class World {
  readonly #plan: SeedPlan;
  readonly clock = createWorldClock();
  readonly #sandbox: Sandbox;
  readonly #machine: Machine;
  readonly #endpointId: string;
  readonly #todo: { atMs: number; happening: Happening }[];
  readonly #log: SandboxLogEntry[] = [];
  readonly #fired: History["fired"] = [];
  readonly #met = new Set<string>();
  #secrets: string[];
  /** Since when nothing but the work in the file is left. */
  #quietSinceMs: number | undefined;
  #timesPutBack = 0;
  /** How far the wall clock is ahead at the most: contact events get its time, and wait until it has come. */
  readonly #aheadMs: number;

  constructor({ plan, kit, folder, file }: WorldParts) {
    const ahead = plan.happenings.map(({ happening }) => (happening.kind === "clock_off" ? happening.byMs : 0));
    this.#aheadMs = Math.max(0, ...ahead);
    this.#plan = plan;
    this.#todo = [...plan.happenings];
    const hasSlowDisk = plan.happenings.some(({ happening }) => happening.kind === "slow_disk");
    this.#sandbox = createSandbox({
      clock: this.clock,
      ...(hasSlowDisk && { limits: { patienceMs: SLOW_DISK_PATIENCE_MS } }),
      seed: plan.seed,
      assumptions: { retriesOfDisabled: plan.retriesOfDisabled },
      receive: (request) => this.#machine.receive(request),
      onLog: (entry) => this.#onLog(entry),
    });
    const endpoint = this.#sandbox.endpoints.create({
      url: "http://receiver.test/hooks",
      eventTypes: [...EVENT_TYPES],
    });
    this.#endpointId = endpoint.id;
    this.#secrets = [endpoint.secret];
    this.#machine = new Machine({
      plan,
      kit,
      clock: this.clock,
      folder,
      file,
      secrets: () => this.#secrets,
      sandbox: () => this.#sandbox,
      onMet: (what) => void this.#met.add(what),
    });
  }

  async run(): Promise<History> {
    this.#machine.start();
    await this.#sandbox.advance(0);
    for (let next = this.#takeNext(); next !== undefined; next = this.#takeNext()) {
      await this.#sandbox.advance(Math.max(0, next.atMs - this.clock.elapsedMs));
      this.#happen(next.happening);
    }
    this.#sandbox.faults.clear();
    const unfinished = await this.#comeToRest();
    // A stop waits for what runs, and time has come to its end.
    if (unfinished === undefined) await this.#machine.stop();
    else await this.#machine.breakOff();
    await this.#sandbox.close();
    return {
      seed: this.#plan.seed,
      fired: this.#fired,
      log: this.#log,
      contactEvents: this.#sandbox.contactEvents.filter(({ properties }) => isNew(String(properties["eventId"]))),
      wrong: [...this.#machine.shared.wrong],
      unfinished,
      met: this.#met,
      turns: this.clock.turns(),
      ...readFile(this.#machine.file),
    };
  }

  #takeNext(): { atMs: number; happening: Happening } | undefined {
    this.#todo.sort((a, b) => a.atMs - b.atMs);
    return this.#todo.shift();
  }

  #later(ms: number, happening: Happening): void {
    this.#todo.push({ atMs: this.clock.elapsedMs + ms, happening });
  }

  #happen(happening: Happening): void {
    const { faults, endpoints } = this.#sandbox;
    const machine = this.#machine;
    switch (happening.kind) {
      case "event":
        return this.#emit(happening.type);
      case "flood": {
        this.#met.add("flood");
        for (let left = happening.events; left > 0; left -= 1) this.#emit(happening.type);
        return;
      }
      case "crash":
        return machine.expectCrash(happening.crash);
      case "restart":
        return void machine.restart(happening.slot, happening.timeoutMs);
      case "store_fault":
        machine.setStoreFault(happening.fault);
        return this.#later(happening.forMs, { kind: "over", end: () => machine.setStoreFault(undefined) });
      case "slow_disk":
        machine.setSlowMs(happening.callMs);
        return this.#later(happening.forMs, { kind: "over", end: () => machine.setSlowMs(0) });
      case "freeze":
        return machine.freeze(happening.slot, happening);
      case "copies":
        machine.isCopying = true;
        return this.#later(happening.forMs, { kind: "over", end: () => (machine.isCopying = false) });
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

  #emit(eventType: EventType): void {
    const { event, deliveries } = this.#sandbox.emit(eventType);
    const { id, type, createdAt } = event;
    this.#fired.push({ id, type, createdAt, atMs: this.clock.now(), delivered: deliveries.length > 0 });
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
    const endMs = this.clock.elapsedMs + MAX_REST_MS;
    while (this.clock.elapsedMs < endMs) {
      if (this.#machine.failure !== undefined) throw this.#machine.failure;
      if (this.#machine.shared.wrong.size > 0) return "something was wrong on the way";
      await this.#sandbox.advance(LOOK_MS);
      const now = this.clock.elapsedMs;
      const due = this.#todo.filter(({ atMs }) => atMs <= now);
      for (const entry of due) {
        this.#todo.splice(this.#todo.indexOf(entry), 1);
        this.#happen(entry.happening);
      }
      left = await this.#whatIsLeft();
      if (left === "") return undefined;
      const mostPutBack = MAX_PUT_BACK + Math.ceil(this.#aheadMs / LOOK_MS);
      if (this.#timesPutBack > mostPutBack) return `${left}, put back ${mostPutBack} times by hand`;
      if (this.#isOverdue(left)) return `${left}, ${this.#quietForMs / HOUR} hours after all else`;
    }
    return left;
  }

  /** True when nothing but the work itself was left for too long. */
  #isOverdue(left: string): boolean {
    const isQuiet = this.#todo.length === 0 && this.#machine.isWhole && this.#sandbox.openDeliveries === 0;
    if (!isQuiet) this.#quietSinceMs = undefined;
    else this.#quietSinceMs ??= this.clock.elapsedMs;
    const boundMs = MAX_DELAY_MS + (ONLY_SENDS.test(left) ? this.#aheadMs : 0);
    if (this.#quietForMs <= boundMs) return false;
    return this.#quietForMs > boundMs + longestQueueMs(this.#plan.seed, this.#fired);
  }

  get #quietForMs(): number {
    return this.clock.elapsedMs - (this.#quietSinceMs ?? this.clock.elapsedMs);
  }

  async #whatIsLeft(): Promise<string> {
    const life = this.#machine.serving;
    if (this.#todo.length > 0 || life === undefined || !this.#machine.isWhole) return "the machine";
    if (this.#sandbox.openDeliveries > 0) return `${this.#sandbox.openDeliveries} deliveries`;
    try {
      return await Promise.race([this.#tidyUp(life), life.death]);
    } catch (error) {
      // A crash may still be due, and come while the operator looks.
      // So may the moment at which a process sees that the file of the lock is another one.
      if (!life.isAlive || this.#machine.wasLockTaken) return "the machine";
      throw error;
    }
  }

  async #tidyUp({ receiver, store, clock }: Life): Promise<string> {
    if (receiver === undefined || store === undefined) return "the machine";
    clock.wake();
    const { pending, retrying, running, parked, dead, outbox } = await receiver.stats();
    if (parked > 0) {
      this.#met.add("parked after four crashes");
      await receiver.inbox.retryAll({ state: "parked" });
      this.#quietSinceMs = undefined;
    }
    if (outbox.dead > 0) {
      this.#met.add("contact event dead");
      this.#timesPutBack += 1;
      this.#quietSinceMs = undefined;
      const { items } = await operate(store).listContactEvents({ state: "dead", limit: 500 });
      for (const { key } of items) await retryOutbox(store, key, clock.now());
    }
    // Leases of what is dead run out, and are looked for three times a minute of a machine that does not sleep.
    if (running > 0) this.#machine.wake(MINUTE);
    const sends = outbox.pending + outbox.running + outbox.retrying + outbox.dead;
    const jobs = hasHandler(this.#plan.seed, HISTORIAN) ? await operate(store).listJobs() : [];
    const histories = jobs.filter(({ state }) => state === "open").length;
    const counts = { pending, retrying, running, parked, dead, sends, histories };
    return Object.entries(counts)
      .filter(([, count]) => count > 0)
      .map(([what, count]) => `${count} ${what}`)
      .join(", ");
  }
}

/** Work that was parked is given to all handlers of its event when it is retried by hand: those of before too. */
const isNew = (id: string): boolean => !OLD_EVENTS.includes(id);

function readFile(file: string): Pick<History, "effects" | "received"> {
  const db = new Database(file, { readonly: true });
  try {
    const rows = db
      .prepare<[], { handler: string; id: string }>("SELECT handler, event_id AS id FROM effect ORDER BY rowid")
      .all();
    const effects: Record<string, string[]> = {};
    for (const { handler, id } of rows) if (handler === HISTORIAN || isNew(id)) (effects[handler] ??= []).push(id);
    return {
      effects,
      received: db.prepare<[], string>("SELECT id FROM inbox_event ORDER BY seq").pluck().all().filter(isNew),
    };
  } finally {
    db.close();
  }
}
