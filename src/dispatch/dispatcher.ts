import type { Clock, Timer } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import { PigeonholeError } from "../base/error.js";
import { inTime } from "../base/wait.js";
import type { Logger } from "../base/logger.js";
import type { AcceptResult, Glance, Store } from "../store/store.js";
import { CrashLoopingWork, type QueuedWork } from "./crash-looping-work.js";
import { type IncomingEvent, type Plan, firstRun } from "./incoming-event.js";
import { DueWork, LEASE_MS } from "./due-work.js";
import type { RegisteredHandler } from "./handler.js";
import { HandlerQueue } from "./handler-queue.js";
import { keepPolicies } from "./keep-policies.js";
import type { LeaseWindow, ReadyWork, WindowLease } from "./lease-window.js";
import { Places } from "./places.js";
import type { HandlerRegistry } from "./registry.js";
import { RequestedRetries } from "./requested-retries.js";
import type { RunObserver, RunOutcome } from "./run-observer.js";
import type { RunRecord } from "./run-record.js";
import type { RunResult, Runner } from "./runner.js";
import { HandlerOwnership } from "./handler-ownership.js";
import { settleAgain } from "./settle-again.js";
import { WakeTimer } from "./wake-timer.js";

/** How often a process polls for work that another one has accepted, and whether that one still runs the handlers. */
const POLL_INTERVAL_MS = SECOND;
/** The same where several processes run them, which take over within a second what one of them leaves. */
const SHARED_POLL_INTERVAL_MS = 600;
/** Leases are renewed, and orphaned ones searched for, three times within a lease. */
const RENEWAL_INTERVAL_MS = LEASE_MS / 3;
/** After a failure, the store is queried for work again after this. */
const FAILED_WAIT_MS = SECOND;

/** Sends what handlers record. */
export interface OutboxWorker {
  /** This process runs the handlers of the store from now on. */
  start(): void;
  /** There are contact events to send. */
  wake(): void;
  /** Another process may have recorded some. */
  poll(): void;
}

export interface DispatcherDeps {
  store: Store<unknown>;
  registry: HandlerRegistry;
  runner: Runner;
  runs: RunRecord;
  /** Undefined when nothing can be sent. */
  sender: OutboxWorker | undefined;
  clock: Clock;
  logger: Logger;
  /** Requests a retry of parked events that match a handler now. @default false */
  retryParkedAtStart?: boolean;
  /** Reports how many such events there are where no retry is requested. @default true */
  reportsParked?: boolean;
}

/**
 * Leases work, runs it in its turn, and settles it. The store is authoritative; what is in memory here can be lost at
 * any time.
 */
export class Dispatcher {
  readonly #deps: DispatcherDeps;
  readonly #due: DueWork;
  readonly #crashLooping: CrashLoopingWork;
  readonly #ownership: HandlerOwnership;
  readonly #requestedRetries: RequestedRetries;
  readonly #queues = new Map<string, HandlerQueue>();
  readonly #timers = new Map<string, WakeTimer>();
  #maintenance: Timer | undefined;
  #polls = 0;
  /** Runs since the start, by how they ended. */
  readonly outcomes: Record<RunOutcome, number> = { done: 0, retry: 0, dead: 0, lost: 0 };
  /** Called after the next change that may have left nothing to do. */
  #untilChanged: (() => void)[] = [];
  #opening: Promise<void> = Promise.resolve();
  /** Runs crash-looping work, or waits until nothing else runs. */
  #runningAlone: Promise<void> | undefined;
  #stopped = false;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#due = new DueWork(deps);
    this.#crashLooping = new CrashLoopingWork({ ...deps, due: this.#due });
    this.#ownership = new HandlerOwnership(deps);
    this.#requestedRetries = new RequestedRetries(deps);
  }

  /** Takes over what a dead process left, and begins to run handlers, watched by `observer`. */
  async start(observer: RunObserver | undefined): Promise<void> {
    const { store, registry, runner, runs, clock, logger } = this.#deps;
    const isShared = this.#isShared;
    runner.observer = observer;
    const { all, concurrency } = registry;
    // The queue of a single handler is limit enough.
    const places = all.length > 1 ? new Places(concurrency) : undefined;
    for (const handler of all) {
      const queue = new HandlerQueue(handler, {
        store,
        runner,
        times: runs.timesOf(handler.name),
        places,
        isShared,
        clock,
        logger,
      });
      this.#queues.set(handler.name, queue);
      this.#timers.set(handler.name, new WakeTimer(clock, () => this.#wake(queue)));
    }
    await this.#recover(clock.now());
    this.#scheduleMaintenance();
  }

  /**
   * Takes no more work, waits up to `timeoutMs` for current runs, then aborts them. Unfinished work is pending again
   * for the next process.
   */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopped = true;
    const noneRequested = this.#requestedRetries.stop();
    this.#maintenance?.cancel();
    for (const timer of this.#timers.values()) timer.cancel();
    const closed = this.#closeWindows();
    await inTime(this.#untilNoneRuns(), this.#deps.clock, timeoutMs);
    const reason = new PigeonholeError("stopped", "The receiver stopped before the handler was done; it runs again.");
    for (const queue of this.#queues.values()) queue.abort(reason);
    await Promise.all([this.#untilNoneRuns(), closed, this.#opening, noneRequested]);
  }

  /**
   * Stores an event with its work, and starts the part that was leased in the same commit. Rejects as the store does.
   */
  async accept(incoming: IncomingEvent): Promise<AcceptResult> {
    const { delivery, route, receivedAt, signedAt, body } = incoming;
    const { type, test } = delivery.kind === "event" ? delivery.event : delivery;
    const plan = this.#plan(route.handlers);
    const event = { id: delivery.id, type, test, receivedAt, signedAt, body, work: plan.work, parked: route.parked };
    let result: AcceptResult;
    try {
      result = await this.#deps.store.accept(event);
    } catch (error) {
      for (const queue of plan.reserved) this.#unreserve(queue);
      throw error;
    }
    this.#begin(plan, result, incoming);
    return result;
  }

  /** Work may have become pending in the store. */
  wake(): void {
    for (const queue of this.#queues.values()) this.#wake(queue);
  }

  /** Reads the events again whose retry was requested from outside. */
  async readRequested(): Promise<void> {
    await this.#requestedRetries.check();
  }

  /** True when no work of these handlers is due in the store, and none is here. */
  get isIdle(): boolean {
    return [...this.#queues.values()].every(({ window }) => window.isIdle);
  }

  /** Resolves when it is idle, or `signal` is aborted. */
  async untilIdle(signal: AbortSignal): Promise<void> {
    const note = (): void => this.#noteChange();
    signal.addEventListener("abort", note, { once: true });
    while (!this.isIdle && !signal.aborted) await new Promise<void>((resolve) => this.#untilChanged.push(resolve));
    signal.removeEventListener("abort", note);
  }

  /** Which process runs the handlers of the store. */
  get ownership(): Pick<HandlerOwnership, "isOwner"> {
    return this.#ownership;
  }

  /** Since when the work that waits longest in this process for its handler is due; undefined when none waits. */
  get waitingSince(): number | undefined {
    const sinces = [...this.#queues.values()]
      .map(({ window }) => window.waitingSince)
      .filter((since) => since !== undefined);
    return sinces.length === 0 ? undefined : Math.min(...sinces);
  }

  /** Decides, before an event is stored, which of its work is leased in the same commit. */
  #plan(handlers: readonly RegisteredHandler[]): Plan {
    const plan: Plan = { work: [], reserved: [] };
    for (const { name } of handlers) {
      const queue = this.#queues.get(name);
      if (queue?.window.reserve() === true) {
        plan.reserved.push(queue);
        plan.work.push({ handler: name, leaseUntil: this.#deps.clock.now() + LEASE_MS });
      } else {
        plan.work.push({ handler: name });
      }
    }
    return plan;
  }

  /** The planned event is in the store: runs what was leased with it. */
  #begin(plan: Plan, result: AcceptResult, incoming: IncomingEvent): void {
    let index = 0;
    for (const queue of plan.reserved) {
      const lease = result.kind === "stored" ? result.leases[index] : undefined;
      // A second handler reads the event again: it must not see what the first one changed in it.
      const delivery = index === 0 ? incoming.delivery : this.#deps.registry.read(incoming.body);
      index += 1;
      if (lease === undefined || delivery.kind !== "event") this.#unreserve(queue);
      else void this.#process(queue, firstRun(queue.window, lease, incoming, delivery.event));
    }
    if (result.kind === "duplicate") return;
    for (const { handler, leaseUntil } of plan.work) {
      const queue = leaseUntil === undefined ? this.#queues.get(handler) : undefined;
      if (queue !== undefined) this.#wake(queue);
    }
  }

  /** Leased work runs in its turn, then it is settled. Event and body are released in between. */
  #process(queue: HandlerQueue, ready: ReadyWork): Promise<void> {
    const { lease } = ready;
    return queue.run(ready).then((result) => this.#settle(queue, lease, result));
  }

  /** Never rejects: the other handlers must get their turn. */
  #processAlone(queue: HandlerQueue, ready: ReadyWork): Promise<void> {
    const { lease } = ready;
    return queue
      .runAlone(ready)
      .then((result) => this.#settle(queue, lease, result))
      .catch((error: unknown) => this.#reportFailed(queue, errorFields(error, true)));
  }

  /** `result` is undefined for work that must no longer begin. */
  async #settle(queue: HandlerQueue, lease: WindowLease, result: RunResult | undefined): Promise<void> {
    if (result !== undefined) {
      const { settlement } = result;
      let isKept = settlement === "committed";
      if (typeof settlement === "object") {
        try {
          isKept = (await this.#deps.store.settle(settlement)) === "settled";
        } catch (error) {
          isKept = await settleAgain(settlement, error, this.#deps);
        }
      }
      this.#conclude(queue, lease, result, isKept);
    }
    queue.window.release(lease);
    this.#refillIfWanted(queue);
    this.#noteChange();
  }

  #noteChange(): void {
    if (this.#untilChanged.length > 0) for (const notify of this.#untilChanged.splice(0)) notify();
  }

  /** Concludes a run once its settlement is stored, or known to be lost. */
  #conclude(queue: HandlerQueue, { eventId, handler, attempt }: WindowLease, result: RunResult, isKept: boolean): void {
    const { settlement } = result;
    const outcome = isKept ? outcomeOf(settlement) : "lost";
    if (outcome === "lost") this.#deps.logger.warn({ eventId, handler, attempt }, "lease_lost");
    if (outcome === "done" && result.hasRecorded) this.#deps.sender?.wake();
    if (isKept && typeof settlement === "object" && settlement.to === "pending") this.#wakeAt(queue, settlement.dueAt);
    this.outcomes[outcome] += 1;
    result.span?.end(outcome);
  }

  #unreserve(queue: HandlerQueue): void {
    queue.window.unreserve();
    this.#refillIfWanted(queue);
    this.#noteChange();
  }

  /** There is, or may be, due work of this handler in the store. */
  #wake(queue: HandlerQueue): void {
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

  /** Leases due work, a page at a time, while there is some and memory for it. */
  async #refill(queue: HandlerQueue): Promise<void> {
    const { window } = queue;
    window.isRefilling = true;
    try {
      while (window.isBehind && window.hasRoomForPage) {
        const seekCrashLooping = this.#crashLooping.mayRun;
        const { ready, hasCrashLooping, nextDueAt } = await this.#due.leasePage(window, { seekCrashLooping });
        if (hasCrashLooping) await this.#runAlone();
        for (const each of ready) void this.#process(queue, each);
        if (nextDueAt !== undefined) this.#wakeAt(queue, nextDueAt);
      }
    } catch (error) {
      // Whether work is due is not known.
      window.isBehind = true;
      this.#reportFailed(queue, errorFields(error, false));
      this.#wakeAt(queue, this.#deps.clock.now() + FAILED_WAIT_MS);
    } finally {
      window.isRefilling = false;
      this.#noteChange();
    }
  }

  #reportFailed({ handler }: HandlerQueue, fields: object): void {
    this.#deps.logger.error({ handler: handler.name, ...fields }, "handler_queue_failed");
  }

  #scheduleMaintenance(): void {
    if (this.#stopped) return;
    this.#maintenance = this.#deps.clock.setTimer(() => {
      void this.#maintain().finally(() => this.#scheduleMaintenance());
    }, this.#pollIntervalMs);
  }

  /** Other processes run handlers on the same store at the same time. */
  get #isShared(): boolean {
    return this.#deps.store.glance !== undefined;
  }

  get #pollIntervalMs(): number {
    return this.#isShared ? SHARED_POLL_INTERVAL_MS : POLL_INTERVAL_MS;
  }

  /**
   * Renews before it recovers, and both by one reading of the clock, so that a process that was suspended, even in
   * between, does not treat its own work as orphaned.
   */
  async #maintain(): Promise<void> {
    const now = this.#deps.clock.now();
    try {
      const found = await this.#glance(now);
      this.#polls += 1;
      const isRenewal = this.#polls % Math.round(RENEWAL_INTERVAL_MS / this.#pollIntervalMs) === 0 || found.orphans;
      const queues = [...this.#queues.values()];
      if (isRenewal) await Promise.all(queues.map(({ window }) => this.#renew(window, now)));
      if (isRenewal || !this.#ownership.isOwner) await this.#recover(now);
      if (this.#ownership.isOwner && found.requested) void this.#requestedRetries.check();
      if (found.contactEvents) this.#deps.sender?.poll();
      await this.#due.giveBack(queues.flatMap(({ window }) => window.takeStale()));
      // Another process may have accepted work. A handler that has much to do queries the store soon anyway.
      const isDue = new Set(found.due);
      for (const queue of queues) if (isDue.has(queue.handler.name) && queue.window.hasRoomForPage) this.#wake(queue);
    } catch (error) {
      this.#deps.logger.error(errorFields(error, true), "maintenance_failed");
    }
  }

  /** What may be found in the store, where it does not say so itself. */
  async #glance(now: number): Promise<Glance> {
    const { store } = this.#deps;
    const handlers = [...this.#queues.keys()];
    const found = await store.glance?.({ handlers, now });
    if (found === undefined) return { due: handlers, requested: true, contactEvents: false, orphans: false };
    return { ...found, requested: found.requested || !this.#requestedRetries.hasReadParked };
  }

  async #renew(window: LeaseWindow, now: number): Promise<void> {
    const { leases } = window;
    if (leases.length === 0) return;
    const lost = await this.#deps.store.renew(leases, now + LEASE_MS);
    for (const lease of lost) window.forget(lease);
  }

  async #recover(now: number): Promise<void> {
    if (this.#stopped) return;
    const found = await this.#ownership.recover(now);
    if (found === "recovered_work") this.wake();
    if (found !== "ownership") return;
    const crashLooping = this.#crashLooping.lease([...this.#queues.values()]);
    const first = crashLooping.next();
    this.#opening = first.then((found) => this.#openWindows(found, crashLooping));
    this.#deps.sender?.start();
    // Not awaited: no handler waits for it.
    void keepPolicies(this.#deps);
    // Where there is none, what is accepted from now on may run at once.
    await first;
  }

  /** Crash-looping work runs first, while nothing else may begin. */
  async #openWindows(first: IteratorResult<QueuedWork, void>, rest: AsyncGenerator<QueuedWork, void>): Promise<void> {
    for (let next = first; next.done !== true; next = await rest.next()) {
      await this.#processAlone(next.value.queue, next.value.ready);
    }
    if (this.#stopped) return;
    for (const queue of this.#queues.values()) {
      queue.window.open();
      this.#wake(queue);
    }
  }

  /** Runs the crash-looping work of all handlers. One such round at a time. */
  #runAlone(): Promise<void> {
    this.#runningAlone ??= this.#runCrashLooping().finally(() => (this.#runningAlone = undefined));
    return this.#runningAlone;
  }

  async #runCrashLooping(): Promise<void> {
    const queues = [...this.#queues.values()];
    for await (const { queue, ready } of this.#crashLooping.leaseAlone(queues)) await this.#processAlone(queue, ready);
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

function outcomeOf(settlement: RunResult["settlement"]): RunOutcome {
  if (settlement === "lost") return "lost";
  if (settlement === "committed" || settlement.to === "done") return "done";
  return settlement.to === "pending" ? "retry" : "dead";
}
