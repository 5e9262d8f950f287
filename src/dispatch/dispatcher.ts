import PQueue from "p-queue";
import type { Clock, Timer } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import { inTime } from "../base/in-time.js";
import type { Logger } from "../base/logger.js";
import type { Delivery } from "../protocol/decode-delivery.js";
import type { AnyEvent } from "../protocol/event.js";
import type { AcceptResult, Store } from "../store/store.js";
import type { Lease, LeasedWork, NewWork } from "../store/work.js";
import { DueWork, LEASE_MS } from "./due-work.js";
import type { RegisteredHandler } from "./handler.js";
import { HandlerQueue } from "./handler-queue.js";
import { keepSettlement } from "./keep-settlement.js";
import type { HeldLease, LeaseWindow, ReadyWork } from "./lease-window.js";
import type { HandlerRegistry, Route } from "./registry.js";
import type { RunObserver, RunOutcome } from "./run-observer.js";
import type { RunResult, Runner } from "./runner.js";
import { WakeTimer } from "./wake-timer.js";

/** This often a process looks for work that another one has accepted, and whether that one still runs the handlers. */
const LOOK_MS = SECOND;
/** Leases are renewed, and orphaned ones looked for, at every so many looks: three chances within a lease. */
const LOOKS_PER_RENEWAL = LEASE_MS / 3 / LOOK_MS;
/** A store that fails is asked for work again after this. */
const FAILED_WAIT_MS = SECOND;

/** Sends what handlers record. */
export interface OutboxWorker {
  /** This process is now the one that works on the store. */
  start(): void;
  /** There are contact events to send. */
  poke(): void;
}

export interface DispatcherDeps {
  store: Store;
  registry: HandlerRegistry;
  runner: Runner;
  /** Undefined when nothing can be sent. */
  sender: OutboxWorker | undefined;
  clock: Clock;
  logger: Logger;
}

/** A delivery that is to be stored, and who is to see it. */
export interface IncomingEvent {
  delivery: Delivery;
  route: Route;
  /** When we had the whole body, in milliseconds since 1970. */
  receivedAt: number;
  /** The signed time, in milliseconds since 1970. */
  signedAt: number;
  body: Uint8Array;
}

/** Work planned for an event that is about to be stored. */
interface Plan {
  work: NewWork[];
  /** Queues of the work that is leased in the same commit, in that order. */
  reserved: HandlerQueue[];
}

/** An event that was stored, as it came in. */
type StoredEvent = Pick<LeasedWork, "eventId" | "receivedAt" | "signedAt" | "body"> & { event: AnyEvent };

/**
 * Leases work, has it run in its turn, and settles it. The store holds the truth; what is in memory here can be lost at any moment.
 */
export class Dispatcher {
  readonly #deps: DispatcherDeps;
  readonly #due: DueWork;
  readonly #queues = new Map<string, HandlerQueue>();
  readonly #timers = new Map<string, WakeTimer>();
  #maintenance: Timer | undefined;
  #isOwner = false;
  #toldNotOwner = false;
  #looks = 0;
  #opening: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#due = new DueWork(deps);
  }

  /** Takes over what a dead process left, and begins to run handlers, watched by `observer`. */
  async start(observer: RunObserver | undefined): Promise<void> {
    const { registry, runner, clock, logger } = this.#deps;
    runner.observer = observer;
    const { all, concurrency } = registry;
    // The queue of a single handler limits enough.
    const places = all.length > 1 ? new PQueue({ concurrency }) : undefined;
    for (const handler of all) {
      const queue = new HandlerQueue(handler, { runner, places, clock, logger });
      this.#queues.set(handler.name, queue);
      this.#timers.set(handler.name, new WakeTimer(clock, () => this.#poke(queue)));
    }
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
    for (const timer of this.#timers.values()) timer.cancel();
    const closed = this.#closeWindows();
    await inTime(this.#untilNoneRuns(), this.#deps.clock, timeoutMs);
    this.#deps.runner.abort();
    await Promise.all([this.#untilNoneRuns(), closed, this.#opening]);
  }

  /**
   * Stores an event with the work it makes; what of that came in leased is on its way to its handlers then. Rejects as the store does.
   */
  async accept({ delivery, route, receivedAt, signedAt, body }: IncomingEvent): Promise<AcceptResult> {
    const { id } = delivery;
    const { type, test } = delivery.kind === "event" ? delivery.event : delivery;
    const plan = this.#plan(route.handlers);
    const event = { id, type, test, receivedAt, signedAt, body, work: plan.work, parked: route.parked };
    let result: AcceptResult;
    try {
      result = await this.#deps.store.accept(event);
    } catch (error) {
      for (const queue of plan.reserved) this.#unreserve(queue);
      throw error;
    }
    if (delivery.kind === "event") {
      this.#begin(plan, result, { eventId: id, receivedAt, signedAt, body, event: delivery.event });
    }
    return result;
  }

  /** Work may have become pending in the store. */
  poke(): void {
    for (const queue of this.#queues.values()) this.#poke(queue);
  }

  /** Since when the work that waits longest in this process for its handler is due; undefined when none waits. */
  get waitingSince(): number | undefined {
    const sinces = [...this.#queues.values()]
      .map(({ window }) => window.waitingSince)
      .filter((since) => since !== undefined);
    return sinces.length === 0 ? undefined : Math.min(...sinces);
  }

  /** Decides, before an event is stored, which of its work comes in leased. */
  #plan(handlers: readonly RegisteredHandler[]): Plan {
    const plan: Plan = { work: [], reserved: [] };
    for (const { name } of handlers) {
      const queue = this.#queues.get(name);
      if (queue?.window.reserve() === true) {
        plan.reserved.push(queue);
        plan.work.push({ handler: name, leaseUntil: this.#due.leaseUntil() });
      } else {
        plan.work.push({ handler: name });
      }
    }
    return plan;
  }

  /** The planned event is in the store: runs what was leased with it. */
  #begin(plan: Plan, result: AcceptResult, stored: StoredEvent): void {
    for (const [index, queue] of plan.reserved.entries()) {
      const lease = result.kind === "stored" ? result.leases[index] : undefined;
      // A second handler reads the event again: it must not see what the first one changed in it.
      const event = index === 0 ? stored.event : this.#readAgain(stored.body);
      if (lease === undefined || event === undefined) this.#unreserve(queue);
      else void this.#process(queue, firstRun(queue.window, lease, stored, event));
    }
    if (result.kind === "duplicate") return;
    for (const { handler, leaseUntil } of plan.work) {
      const queue = leaseUntil === undefined ? this.#queues.get(handler) : undefined;
      if (queue !== undefined) this.#poke(queue);
    }
  }

  #readAgain(body: Uint8Array): AnyEvent | undefined {
    const delivery = this.#deps.registry.read(body);
    return delivery.kind === "event" ? delivery.event : undefined;
  }

  /** Leased work on its way: it runs in its turn, then it is settled. Lets go of event and body in between. */
  async #process(queue: HandlerQueue, ready: ReadyWork): Promise<void> {
    const { lease } = ready;
    const result = await queue.run(ready);
    return this.#settle(queue, lease, result);
  }

  async #settle(queue: HandlerQueue, lease: HeldLease, result: RunResult | undefined): Promise<void> {
    if (result !== undefined) {
      const outcome = await this.#keep(queue, lease, result);
      if (outcome === "done" && result.hasRecorded) this.#deps.sender?.poke();
      result.span?.end(outcome);
    }
    this.#due.release(queue.window, lease);
    this.#refillIfWanted(queue);
  }

  /** Has the store keep how a run ended. */
  async #keep(queue: HandlerQueue, lease: HeldLease, { settlement }: RunResult): Promise<RunOutcome> {
    if (settlement === "committed") return "done";
    if (settlement === "lost" || !(await keepSettlement(settlement, this.#deps))) {
      const { eventId, handler, attempt } = lease;
      this.#deps.logger.warn({ eventId, handler, attempt }, "lease_lost");
      return "lost";
    }
    if (settlement.to === "done") return "done";
    if (settlement.to !== "pending") return "dead";
    this.#wakeAt(queue, settlement.dueAt);
    return "retry";
  }

  #unreserve(queue: HandlerQueue): void {
    queue.window.unreserve();
    this.#refillIfWanted(queue);
  }

  /** There is, or may be, due work of this handler in the store. */
  #poke(queue: HandlerQueue): void {
    queue.window.isBehind = true;
    this.#refillIfWanted(queue);
  }

  /** Work of this handler is due at that time. */
  #wakeAt(queue: HandlerQueue, dueAt: number): void {
    if (queue.window.isOpen) this.#timers.get(queue.handler.name)?.set(dueAt);
  }

  #refillIfWanted(queue: HandlerQueue): void {
    if (queue.window.wantsRefill) void this.#refill(queue);
  }

  /** Leases due work, a page at a time, while there is some and it has room in memory. */
  async #refill(queue: HandlerQueue): Promise<void> {
    const { window } = queue;
    window.isRefilling = true;
    try {
      while (window.isBehind && window.hasRoomForPage) {
        const { ready, nextDueAt } = await this.#due.leasePage(window);
        for (const each of ready) void this.#process(queue, each);
        if (nextDueAt !== undefined) this.#wakeAt(queue, nextDueAt);
      }
    } catch (error) {
      const { clock, logger } = this.#deps;
      logger.error({ handler: queue.handler.name, ...errorFields(error, false) }, "lane_failed");
      this.#wakeAt(queue, clock.now() + FAILED_WAIT_MS);
    } finally {
      window.isRefilling = false;
    }
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
      if (isRenewal) await Promise.all([...this.#queues.values()].map(({ window }) => this.#renew(window)));
      if (isRenewal || !this.#isOwner) await this.#recover();
      // Another process may have accepted work. A handler that has much to do asks the store soon anyway.
      for (const queue of this.#queues.values()) if (queue.window.hasRoomForPage) this.#poke(queue);
    } catch (error) {
      this.#deps.logger.error(errorFields(error, true), "maintenance_failed");
    }
  }

  async #renew(window: LeaseWindow): Promise<void> {
    const { leases } = window;
    if (leases.length === 0) return;
    const lost = await this.#deps.store.renew(leases, this.#due.leaseUntil());
    for (const lease of lost) window.forget(lease);
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
      this.#opening = this.#openWindows();
      this.#deps.sender?.start();
    } else if (recovered > 0) {
      this.poke();
    }
    this.#isOwner ||= owner;
  }

  /** Work that two processes died in runs first and with nothing beside it: a third death must have one suspect only. */
  async #openWindows(): Promise<void> {
    for (const queue of this.#queues.values()) {
      try {
        while (!this.#stopped && (await this.#runRepeated(queue)));
      } catch (error) {
        this.#deps.logger.error({ handler: queue.handler.name, ...errorFields(error, true) }, "lane_failed");
      }
    }
    if (this.#stopped) return;
    for (const queue of this.#queues.values()) {
      queue.window.open();
      this.#poke(queue);
    }
  }

  /** False when no such work is due. */
  async #runRepeated(queue: HandlerQueue): Promise<boolean> {
    const { ready, isLeft } = await this.#due.leaseRepeated(queue.window);
    if (ready !== undefined) await this.#process(queue, ready);
    return isLeft;
  }

  async #untilNoneRuns(): Promise<void> {
    await Promise.all([...this.#queues.values()].map(({ window }) => window.untilNoneRuns()));
  }

  async #closeWindows(): Promise<void> {
    const queues = [...this.#queues.values()];
    for (const queue of queues) queue.clear();
    const waiting = await Promise.all(queues.map(({ window }) => window.close()));
    await this.#due.giveBack(waiting.flat());
  }
}

/** The first run of an event that was leased as it was accepted. */
function firstRun(window: LeaseWindow, lease: Lease, stored: StoredEvent, event: AnyEvent): ReadyWork {
  const { seq, handler, token } = lease;
  const { eventId, receivedAt, signedAt, body } = stored;
  const first = { dueAt: receivedAt, attempt: 1, failures: 0, crashes: 0 };
  const work = { seq, handler, token, eventId, receivedAt, signedAt, body, ...first };
  return { lease: window.holdReserved(work), work, event };
}
