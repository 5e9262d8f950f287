import { type Clock, type Timer, elapsedBy } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import { PigeonholeError } from "../base/error.js";
import { inTime } from "../base/wait.js";
import type { Logger } from "../base/logger.js";
import type { AcceptResult, Glance, Store } from "../store/store.js";
import { TAKEN_OVER_AFTER_MS } from "../store/work-state.js";
import { type IncomingEvent, type Plan, firstRun } from "./incoming-event.js";
import type { RegisteredHandler } from "./handler.js";
import { HandlerOwnership, keepPolicies } from "./handler-ownership.js";
import type { OutboxWorker } from "./handler-worker.js";
import { HandlerWorkers } from "./handler-workers.js";
import { LEASE_MS, Leases } from "./leases.js";
import { isStoreAway } from "../store/passing-failure.js";
import { PausedHandlers } from "./paused-handlers.js";
import { type ParkedAtStart, RequestedRetries } from "./read-again.js";
import type { HandlerRegistry } from "./registry.js";
import type { RunObserver, RunOutcome } from "./run-observer.js";
import type { Runner } from "./runner.js";

/** How often a process polls for work that another one has accepted, and whether that one still runs the handlers. */
const POLL_INTERVAL_MS = SECOND;
/** The same where several processes run them, which take over within a second what one of them leaves. */
const SHARED_POLL_INTERVAL_MS = 600;
/** Leases are renewed, and orphaned ones searched for, three times within a lease. */
const RENEWAL_INTERVAL_MS = LEASE_MS / 3;
/** Without the store for so long, runs end: before others take them over, also if a round takes seconds to fail. */
const ENDS_RUNS_AFTER_MS = TAKEN_OVER_AFTER_MS - 7 * SECOND;

export interface DispatcherDeps {
  store: Store<unknown>;
  registry: HandlerRegistry;
  runner: Runner;
  /** Undefined when nothing can be sent. */
  sender: OutboxWorker | undefined;
  clock: Clock;
  logger: Logger;
}

/**
 * Stores events with their work, and runs the handlers where this process may. The store is authoritative; what is in
 * memory here can be lost at any time.
 */
export class Dispatcher {
  readonly #deps: DispatcherDeps;
  readonly #leases: Leases;
  readonly #workers: HandlerWorkers;
  readonly #ownership: HandlerOwnership;
  readonly #requestedRetries: RequestedRetries;
  readonly #paused: PausedHandlers;
  #maintenance: Timer | undefined;
  /** When leases were last renewed, and when the store last answered, in the clock's elapsed time. */
  #renewedAt = 0;
  #answeredAt = 0;
  #maintenanceFails = false;
  #opening: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(deps: DispatcherDeps, parkedAtStart: ParkedAtStart) {
    this.#deps = deps;
    this.#leases = new Leases(deps);
    this.#workers = new HandlerWorkers({ ...deps, leases: this.#leases });
    this.#ownership = new HandlerOwnership({ ...deps, record: deps.runner.record });
    this.#requestedRetries = new RequestedRetries(deps, parkedAtStart);
    this.#paused = new PausedHandlers({ ...deps, workers: this.#workers });
  }

  /** Takes over what a dead process left, and begins to run handlers, watched by `observer`. */
  async start(observer: RunObserver | undefined): Promise<void> {
    const { runner, clock } = this.#deps;
    runner.observer = observer;
    this.#workers.create();
    this.#renewedAt = this.#answeredAt = elapsedBy(clock);
    await this.#recover(clock.now());
    this.#scheduleMaintenance();
  }

  /**
   * Takes no more work, waits up to `timeoutMs` for current runs, then aborts them. Unfinished work is pending again
   * for the next process.
   */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopped = true;
    const workers = this.#workers;
    const noneRequested = this.#requestedRetries.stop();
    this.#maintenance?.cancel();
    const closed = workers.close();
    await inTime(workers.untilNoneRuns(), this.#deps.clock, timeoutMs);
    this.#leases.end();
    workers.abort(new PigeonholeError("stopped", "The receiver stopped before the handler was done; it runs again."));
    await Promise.all([workers.untilNoneRuns(), closed, this.#opening, noneRequested]);
    await this.#leases.giveBack([]);
  }

  /**
   * Stores an event with its work, and runs the part that was leased in the same commit once it can be answered.
   * Rejects as the store does.
   */
  async accept(incoming: IncomingEvent): Promise<AcceptResult> {
    const { delivery, route, receivedAt, signedAt, body, trace } = incoming;
    const { type, test } = delivery.kind === "event" ? delivery.event : delivery;
    const plan = this.#plan(route.handlers);
    const { work, reserved } = plan;
    if (reserved.length < work.length) this.#leases.answers.hold(delivery.id);
    const event = { id: delivery.id, type, test, receivedAt, signedAt, body, work, parked: route.parked, trace };
    let result: AcceptResult;
    try {
      result = await this.#deps.store.accept(event);
    } catch (error) {
      for (const worker of reserved) worker.unreserve();
      throw error;
    } finally {
      this.#leases.answers.release(delivery.id);
    }
    this.#begin(plan, result, incoming);
    return result;
  }

  /** Work may have become pending in the store. */
  wake(): void {
    this.#workers.wake();
  }

  /** Reads the events again whose retry was requested from outside. */
  async readRequested(): Promise<void> {
    await this.#requestedRetries.check();
  }

  /** Runs since the start, by how they ended. */
  get outcomes(): Readonly<Record<RunOutcome, number>> {
    return this.#workers.progress.outcomes;
  }

  /** True when no work of these handlers is due in the store, and none is here. */
  get isIdle(): boolean {
    return this.#workers.areIdle;
  }

  /** Resolves when it is idle, or `signal` is aborted. */
  async untilIdle(signal: AbortSignal): Promise<void> {
    const { progress } = this.#workers;
    const note = (): void => progress.noteChange();
    signal.addEventListener("abort", note, { once: true });
    while (!this.isIdle && !signal.aborted) await progress.untilChanged();
    signal.removeEventListener("abort", note);
  }

  /** Which process runs the handlers of the store. */
  get ownership(): Pick<HandlerOwnership, "isOwner"> {
    return this.#ownership;
  }

  /** Since when the work that waits longest in this process for its handler is due; undefined when none waits. */
  get waitingSince(): number | undefined {
    return this.#workers.waitingSince;
  }

  /** Decides, before an event is stored, which of its work is leased in the same commit. */
  #plan(handlers: readonly RegisteredHandler[]): Plan {
    const plan: Plan = { work: [], reserved: [] };
    for (const { name } of handlers) {
      const worker = this.#workers.get(name);
      if (worker?.queue.window.reserve() === true) {
        plan.reserved.push(worker);
        plan.work.push({ handler: name, leaseUntil: this.#leases.leaseUntil() });
      } else {
        plan.work.push({ handler: name });
      }
    }
    return plan;
  }

  /** The planned event is in the store: runs what was leased with it once it is answered. */
  #begin(plan: Plan, result: AcceptResult, incoming: IncomingEvent): void {
    let index = 0;
    for (const worker of plan.reserved) {
      const lease = result.kind === "stored" ? result.leases[index] : undefined;
      // A second handler reads the event again: it must not see what the first one changed in it.
      const delivery = index === 0 ? incoming.delivery : this.#deps.registry.read(incoming.body);
      index += 1;
      if (lease === undefined || delivery.kind !== "event") worker.unreserve();
      else {
        const ready = firstRun(worker.queue.window, lease, incoming, delivery.event);
        setImmediate(() => void worker.work(ready));
      }
    }
    if (result.kind === "duplicate") return;
    for (const { handler, leaseUntil } of plan.work) {
      if (leaseUntil === undefined) this.#workers.get(handler)?.wake();
    }
  }

  #scheduleMaintenance(): void {
    if (this.#stopped) return;
    this.#maintenance = this.#deps.clock.setTimer(() => {
      void this.#maintain().finally(() => this.#scheduleMaintenance());
    }, this.#pollIntervalMs);
  }

  get #pollIntervalMs(): number {
    return this.#leases.areShared ? SHARED_POLL_INTERVAL_MS : POLL_INTERVAL_MS;
  }

  /**
   * Renews before it recovers, and both by one reading of the clock, so that a process that was suspended, even in
   * between, does not treat its own work as orphaned.
   */
  async #maintain(): Promise<void> {
    const { clock, logger } = this.#deps;
    const now = clock.now();
    const begunAt = elapsedBy(clock);
    try {
      const found = await this.#glance(now);
      // Before their leases could end, and count as those of a dead process.
      await this.#leases.giveBack([]);
      // By the time, not by the number of polls: this process may have been suspended.
      const isRenewal = elapsedBy(clock) - this.#renewedAt >= RENEWAL_INTERVAL_MS || found.orphans;
      if (isRenewal) {
        await this.#workers.renew(now);
        this.#renewedAt = begunAt;
      }
      if (isRenewal || !this.#ownership.isOwner) await this.#recover(now);
      await this.#paused.check(found.paused);
      if (this.#ownership.isOwner && found.requested) void this.#requestedRetries.check();
      if (found.contactEvents) this.#deps.sender?.poll();
      await this.#workers.giveBackStale();
      // In most rounds, a store that is one file is asked for nothing else.
      if (this.#leases.areShared || !this.#leases.hasUnreturned) this.#workers.noteAnswer(begunAt);
      // Another process may have accepted work.
      this.#workers.wakeFor(found.due);
      this.#answeredAt = begunAt;
      if (this.#maintenanceFails) logger.info({}, "maintenance_works_again");
      this.#maintenanceFails = false;
    } catch (error) {
      if (!this.#maintenanceFails) logger.error(errorFields(error, true), "maintenance_failed");
      this.#maintenanceFails = true;
      if (isStoreAway(error)) this.#workers.suspend();
      this.#endUnrenewedRuns();
    }
  }

  /** Other processes may soon run what runs here. */
  #endUnrenewedRuns(): void {
    if (!this.#leases.areShared || elapsedBy(this.#deps.clock) - this.#answeredAt < ENDS_RUNS_AFTER_MS) return;
    const text = "The store did not answer for some seconds, so another process may run the handler.";
    this.#workers.suspend();
    this.#workers.abort(new PigeonholeError("lease_lost", text));
  }

  /** What may be found in the store, where it does not say so itself. */
  async #glance(now: number): Promise<Omit<Glance, "paused"> & { paused: readonly string[] | undefined }> {
    const handlers = this.#workers.names;
    const found = await this.#deps.store.glance?.({ handlers, now });
    if (found === undefined)
      return { due: handlers, requested: true, contactEvents: false, orphans: false, paused: undefined };
    return { ...found, requested: found.requested || !this.#requestedRetries.hasReadParked };
  }

  async #recover(now: number): Promise<void> {
    if (this.#stopped) return;
    // Before the first work of a paused handler could begin.
    if (!this.#ownership.isOwner) await this.#paused.check();
    const found = await this.#ownership.recover(now);
    if (found === "recovered_work") this.wake();
    if (found !== "ownership") return;
    const opening = this.#workers.open();
    this.#opening = opening.then(({ opened }) => opened);
    this.#deps.sender?.start();
    // Not awaited: no handler waits for it.
    void keepPolicies(this.#deps);
    await opening;
  }
}
