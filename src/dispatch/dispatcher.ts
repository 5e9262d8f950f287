import PQueue from "p-queue";
import type { Timer } from "../base/clock.js";
import { MINUTE, SECOND } from "../base/duration.js";
import type { AnyEvent } from "../protocol/event.js";
import type { AcceptResult } from "../store/store.js";
import type { LeasedWork, NewWork } from "../store/work.js";
import { errorFields } from "../base/error-fields.js";
import type { RegisteredHandler } from "./handler.js";
import { HandlerQueue } from "./handler-queue.js";
import type { HandlerRegistry } from "./registry.js";
import { Runner, type RunnerDeps } from "./runner.js";

const LEASE_MS = MINUTE;
/** This often a process looks for work that another one has accepted, and whether that one still runs the handlers. */
const LOOK_MS = SECOND;
/** Leases are renewed, and orphaned ones looked for, at every so many looks: three chances within a lease. */
const LOOKS_PER_RENEWAL = LEASE_MS / 3 / LOOK_MS;

/** What stored bytes turned out to be when they were read again. */
export type ReadBack = { kind: "event"; event: AnyEvent } | { kind: "undecodable"; reason: string; detail: string };

export interface DispatcherDeps extends Omit<RunnerDeps, "onRetry"> {
  registry: HandlerRegistry;
  /** Most handlers running at once. */
  concurrency: number;
  /** This process is now the one that works on the store. */
  onOwner: () => void;
  /** Reads an event back from its stored bytes. */
  readBack: (body: Uint8Array) => ReadBack;
}

/** Work planned for an event that is about to be stored. Comes back through `accepted` or `rejected`, once. */
export interface Plan {
  work: NewWork[];
  /** Queues of the work that is leased in the same commit, in that order. */
  reserved: HandlerQueue[];
}

/** Runs handlers over leased work. The store holds the truth; what is in memory here can be lost at any moment. */
export class Dispatcher {
  readonly #deps: DispatcherDeps;
  readonly #runner: Runner;
  readonly #queues = new Map<string, HandlerQueue>();
  /** Places among all handlers; a single queue's own queue limits enough. */
  #places: PQueue | undefined;
  #maintenance: Timer | undefined;
  #repeatedTaken = false;
  #isOwner = false;
  #toldNotOwner = false;
  #looks = 0;
  #opening: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#runner = new Runner({ ...deps, onRetry: (handler, dueAt) => this.#queues.get(handler)?.expectAt(dueAt) });
  }

  /** Takes over what a dead process left, and begins to run handlers. */
  async start(): Promise<void> {
    const handlers = this.#deps.registry.all;
    if (handlers.length > 1) this.#places = new PQueue({ concurrency: this.#deps.concurrency });
    for (const handler of handlers) this.#queues.set(handler.name, this.#createQueue(handler));
    await this.#recover();
    this.#scheduleMaintenance();
  }

  /**
   * Takes no more work and waits up to `timeoutMs` for what runs; then aborts it. What was not finished is pending again for the
   * next process.
   */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopped = true;
    this.#maintenance?.cancel();
    const released = this.#releaseWaiting();
    await this.#runner.drain(timeoutMs);
    await this.#runner.abort();
    await Promise.all([released, this.#opening]);
  }

  async #releaseWaiting(): Promise<void> {
    const waiting = (await Promise.all([...this.#queues.values()].map((queue) => queue.shut()))).flat();
    if (waiting.length === 0) return;
    await this.#deps.store.release(waiting, this.#deps.clock.now()).catch((error: unknown) => {
      // The next process takes them for work of a dead one, which costs them nothing but suspicion.
      this.#deps.logger.error({ leases: waiting.length, ...errorFields(error, true) }, "release_failed");
    });
  }

  /** Decides, before an event is stored, which of its work comes in leased. */
  plan(handlers: readonly RegisteredHandler[]): Plan {
    const plan: Plan = { work: [], reserved: [] };
    for (const { name } of handlers) {
      const queue = this.#queues.get(name);
      if (queue?.reserve() === true) {
        plan.reserved.push(queue);
        plan.work.push({ handler: name, leaseUntil: this.#leaseUntil() });
      } else {
        plan.work.push({ handler: name });
      }
    }
    return plan;
  }

  /** The planned event is in the store: runs what was leased with it. */
  accepted(
    plan: Plan,
    result: AcceptResult,
    stored: Pick<LeasedWork, "eventId" | "receivedAt" | "signedAt" | "body"> & { event: AnyEvent },
  ): void {
    const { eventId, receivedAt, signedAt, body } = stored;
    for (const [index, queue] of plan.reserved.entries()) {
      const lease = result.kind === "stored" ? result.leases[index] : undefined;
      // A second handler reads the event anew: it must not see what the first one changed in it.
      const event = index === 0 ? stored.event : this.#readEvent(body);
      if (lease === undefined || event === undefined) {
        queue.unreserve();
        continue;
      }
      const { seq, handler, token } = lease;
      const dueAt = receivedAt;
      queue.take({
        work: { seq, handler, token, eventId, receivedAt, signedAt, dueAt, body, attempt: 1, failures: 0, crashes: 0 },
        event,
      });
    }
    if (result.kind === "duplicate") return;
    for (const { handler, leaseUntil } of plan.work) {
      if (leaseUntil === undefined) this.#queues.get(handler)?.poke();
    }
  }

  /** The planned event was not stored. */
  rejected(plan: Plan): void {
    for (const queue of plan.reserved) queue.unreserve();
  }

  /** Work may have become pending in the store. */
  poke(): void {
    for (const queue of this.#queues.values()) queue.poke();
  }

  /** Since when the work that waits longest in this process for its handler is due; undefined when none waits. */
  get waitingSince(): number | undefined {
    const sinces = [...this.#queues.values()].map((queue) => queue.waitingSince).filter((since) => since !== undefined);
    return sinces.length === 0 ? undefined : Math.min(...sinces);
  }

  #createQueue(handler: RegisteredHandler): HandlerQueue {
    const { store, clock, logger, concurrency } = this.#deps;
    return new HandlerQueue(handler, {
      store,
      now: () => clock.now(),
      leaseUntil: () => this.#leaseUntil(),
      setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
      inPlace: (run) => (this.#places === undefined ? run() : this.#places.add(run)),
      run: (ready, handler, onEnd) => this.#runner.run(ready, handler, onEnd),
      read: (work) => this.#readOrPark(work),
      takeRepeated: () => !this.#repeatedTaken && (this.#repeatedTaken = true),
      giveRepeated: () => (this.#repeatedTaken = false),
      onError: (error) => logger.error({ handler: handler.name, ...errorFields(error, false) }, "lane_failed"),
      concurrency: Math.min(handler.concurrency ?? concurrency, concurrency),
    });
  }

  #leaseUntil(): number {
    return this.#deps.clock.now() + LEASE_MS;
  }

  #readEvent(body: Uint8Array): AnyEvent | undefined {
    const read = this.#deps.readBack(body);
    return read.kind === "event" ? read.event : undefined;
  }

  /** A schema may have changed since the event was stored; what does not fit any more is parked, not run. */
  async #readOrPark(work: LeasedWork): Promise<AnyEvent | undefined> {
    const read = this.#deps.readBack(work.body);
    if (read.kind === "event") return read.event;
    const { seq, handler, token } = work;
    const at = this.#deps.clock.now();
    const { reason, detail: error } = read;
    await this.#deps.store.settle({ seq, handler, token, at, dropSteps: false, to: "parked", reason, error });
    this.#deps.logger.warn({ eventId: work.eventId, handler, reason }, "parked");
    return undefined;
  }

  #scheduleMaintenance(): void {
    if (this.#stopped) return;
    this.#maintenance = this.#deps.clock.setTimer(() => {
      void this.#maintain().finally(() => this.#scheduleMaintenance());
    }, LOOK_MS);
  }

  /** Renews before it recovers, so that a process that slept does not take its own work for orphaned. */
  async #maintain(): Promise<void> {
    try {
      this.#looks += 1;
      const isRenewal = this.#looks % LOOKS_PER_RENEWAL === 0;
      if (isRenewal) await Promise.all([...this.#queues.values()].map((queue) => this.#renew(queue)));
      if (isRenewal || !this.#isOwner) await this.#recover();
      for (const queue of this.#queues.values()) queue.lookUp();
    } catch (error) {
      this.#deps.logger.error(errorFields(error, true), "maintenance_failed");
    }
  }

  async #renew(queue: HandlerQueue): Promise<void> {
    const { leases } = queue;
    if (leases.length === 0) return;
    const lost = await this.#deps.store.renew(leases, this.#leaseUntil());
    for (const lease of lost) queue.forget(lease);
  }

  async #recover(): Promise<void> {
    if (this.#stopped) return;
    const { store, clock, logger } = this.#deps;
    const { owner, recovered, parked } = await store.recover(clock.now());
    if (recovered > 0 || parked > 0) logger.warn({ recovered, parked }, "recovered_work_of_a_dead_process");
    if (!owner) {
      if (!this.#toldNotOwner) logger.warn({}, "another_process_runs_handlers_on_this_store");
      this.#toldNotOwner = true;
    } else if (!this.#isOwner) {
      this.#opening = this.#openQueues();
      this.#deps.onOwner();
    } else if (recovered > 0) {
      this.poke();
    }
    this.#isOwner ||= owner;
  }

  /** Work that two processes died in runs first and with nothing beside it: a third death must have one suspect only. */
  async #openQueues(): Promise<void> {
    for (const queue of this.#queues.values()) {
      try {
        while (!this.#stopped && (await queue.runRepeated()));
      } catch (error) {
        this.#deps.logger.error({ handler: queue.handler.name, ...errorFields(error, true) }, "lane_failed");
      }
    }
    if (this.#stopped) return;
    for (const queue of this.#queues.values()) queue.open();
  }
}
