import { type Timer, elapsedBy, waitingClock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import { PigeonholeError, isPigeonholeError } from "../base/error.js";
import { inTime } from "../base/wait.js";
import { isStoreAway } from "../store/passing-failure.js";
import type { Glance, HandlerPolicy } from "../store/store.js";
import { TAKEN_OVER_AFTER_MS } from "../store/work-state.js";
import type { RegisteredHandler } from "./handler.js";
import type { HandlerWorker } from "./handler-worker.js";
import { LEASE_MS } from "./leases.js";
import { type RereadDeps, readAllAgain } from "./read-again.js";
import type { DispatcherDeps, Scheduler } from "./scheduler.js";

/** How often a process polls for work that another one has accepted, and whether that one still runs the handlers. */
const POLL_INTERVAL_MS = SECOND;
/** The same where several processes run them, which take over within a second what one of them leaves. */
const SHARED_POLL_INTERVAL_MS = 600;
/** Leases are renewed, and orphaned ones searched for, three times within a lease. */
const RENEWAL_INTERVAL_MS = LEASE_MS / 3;
/** How long the event that is being read again is waited for at the end: a server may have fallen silent. */
const READ_WITHIN_MS = 2 * SECOND;
/** Without the store for so long, runs end: before others take them over, also if a round takes seconds to fail. */
const ENDS_RUNS_AFTER_MS = TAKEN_OVER_AFTER_MS - 7 * SECOND;

/** What the maintenance of a dispatcher works on. */
export interface MaintenanceTools {
  workers: ReadonlyMap<string, HandlerWorker>;
  scheduler: Scheduler;
  operator: RereadDeps["operator"];
}

/**
 * What a process does about once a second: it keeps its leases, gives back what does not begin, takes over what dead
 * processes left, and looks for what others have changed in the store. Of a store that is one file, one process at a
 * time runs the handlers, and another one when that has died.
 */
export class Maintenance {
  readonly #deps: DispatcherDeps;
  readonly #tools: MaintenanceTools;
  /** True once this process runs the handlers of the store. */
  isOwner = false;
  #timer: Timer | undefined;
  /** When leases were last renewed, and when the store last answered, in the clock's elapsed time. */
  #renewedAt = 0;
  #answeredAt = 0;
  #fails = false;
  #hasReportedOther = false;
  #opening: Promise<void> = Promise.resolve();
  #reading: Promise<void> | undefined;
  readonly #stopping = new AbortController();

  constructor(deps: DispatcherDeps, tools: MaintenanceTools) {
    this.#deps = deps;
    this.#tools = tools;
  }

  /** Takes over what a dead process left, and lets work begin where this process may. */
  async start(): Promise<void> {
    const { clock } = this.#deps;
    this.#renewedAt = this.#answeredAt = elapsedBy(clock);
    await this.#recover(clock.now());
    this.#schedule();
  }

  /** Begins no further round. Resolves when the work that was to run first has ended, and no event is being read. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#timer?.cancel();
    // What is left to read waits for the next start.
    if (this.#reading !== undefined) await inTime(this.#reading, waitingClock, READ_WITHIN_MS);
    await this.#opening;
  }

  /**
   * Reads parked events again whose retry is requested from outside now, as by the command `inbox retry`, unless it
   * still does. Never rejects. Only for the process that runs the handlers.
   */
  readRequested(): Promise<void> {
    const { logger } = this.#deps;
    const { signal } = this.#stopping;
    this.#reading ??= readAllAgain({ ...this.#deps, operator: this.#tools.operator }, "requested", signal)
      .then((total) => {
        if (total.events > 0) logger.info(total, "parked_events_read_again");
      })
      .catch((error: unknown) => {
        if (!signal.aborted) logger.error(errorFields(error, true), "requested_retries_failed");
      })
      .finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  #schedule(): void {
    if (this.#stopping.signal.aborted) return;
    const intervalMs = this.#tools.scheduler.leases.areShared ? SHARED_POLL_INTERVAL_MS : POLL_INTERVAL_MS;
    this.#timer = this.#deps.clock.setTimer(() => void this.#run().finally(() => this.#schedule()), intervalMs);
  }

  /**
   * Renews before it recovers, and both by one reading of the clock, so that a process that was suspended, even in
   * between, does not treat its own work as orphaned.
   */
  async #run(): Promise<void> {
    const { clock, logger } = this.#deps;
    const { scheduler } = this.#tools;
    const { leases } = scheduler;
    const now = clock.now();
    const begunAt = elapsedBy(clock);
    try {
      const found = await this.#glance(now);
      // Before their leases could end, and count as those of a dead process.
      await leases.giveBack([]);
      // By the time, not by the number of polls: this process may have been suspended.
      const isRenewal = elapsedBy(clock) - this.#renewedAt >= RENEWAL_INTERVAL_MS || found.orphans;
      if (isRenewal) {
        await Promise.all(this.#workers.map((worker) => worker.renew(now)));
        this.#renewedAt = begunAt;
      }
      if (isRenewal || !this.isOwner) await this.#recover(now);
      await scheduler.paused.check(found.paused);
      if (this.isOwner && found.requested) void this.readRequested();
      if (found.contactEvents) this.#deps.sender?.poll();
      await leases.giveBack(this.#workers.flatMap((worker) => worker.takeStale()));
      // In most rounds, a store that is one file is asked for nothing else.
      if (leases.areShared || leases.unreturned.length === 0) scheduler.store.noteAnswer(begunAt);
      // Another process may have accepted work. A handler that has much to do queries the store soon anyway.
      for (const worker of this.#workers)
        if (worker.hasRoomForPage && found.due.includes(worker.handler)) worker.wake();
      scheduler.look();
      this.#answeredAt = begunAt;
      if (this.#fails) logger.info({}, "maintenance_works_again");
      this.#fails = false;
    } catch (error) {
      if (!this.#fails) logger.error(errorFields(error, true), "maintenance_failed");
      this.#fails = true;
      if (isStoreAway(error)) scheduler.store.shut();
      this.#endUnrenewedRuns();
    }
    scheduler.progress.noteChange();
  }

  get #workers(): HandlerWorker[] {
    return [...this.#tools.workers.values()];
  }

  /** Other processes may soon run what runs here. */
  #endUnrenewedRuns(): void {
    const { scheduler } = this.#tools;
    if (!scheduler.leases.areShared || elapsedBy(this.#deps.clock) - this.#answeredAt < ENDS_RUNS_AFTER_MS) return;
    const text = "The store did not answer for some seconds, so another process may run the handler.";
    scheduler.store.shut();
    for (const worker of this.#workers) worker.runs.abort(new PigeonholeError("lease_lost", text));
  }

  /** What may be found in the store, where it does not say so itself. */
  async #glance(now: number): Promise<Omit<Glance, "paused"> & { paused?: readonly string[] }> {
    const handlers = this.#workers.map(({ handler }) => handler);
    const found = await this.#deps.store.glance?.({ handlers, now });
    return found ?? { due: handlers, requested: true, contactEvents: false, orphans: false };
  }

  /** Makes the work of dead processes pending, where this process may. `now` was read before the last renewal. */
  async #recover(now: number): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    const { store, runner, sender, logger } = this.#deps;
    const { scheduler } = this.#tools;
    // Before the first work of a paused handler could begin.
    if (!this.isOwner) await scheduler.paused.check();
    const { owner, recovered, parked } = await store.recover(now);
    runner.record.crashLoops += parked;
    if (recovered > 0 || parked > 0) logger.warn({ recovered, parked }, "recovered_work_of_a_dead_process");
    if (!owner) {
      if (!this.#hasReportedOther) logger.warn({}, "another_process_runs_handlers_on_this_store");
      this.#hasReportedOther = true;
    } else if (this.isOwner) {
      if (recovered > 0) scheduler.wake();
    } else {
      this.isOwner = true;
      sender?.start();
      // Not awaited: no handler waits for it.
      void this.#keepPolicies();
      // Without crash-looping work, what is accepted from now on may run at once.
      const first = await scheduler.leaseCrashLooping();
      this.#opening = scheduler.runCrashLooping(() => Promise.resolve(first));
      if (first === undefined) await this.#opening;
    }
  }

  /** Keeps each handler's retry policy in the store, where it is shown with its work. Never rejects: none needs it. */
  async #keepPolicies(): Promise<void> {
    const { store, registry, logger } = this.#deps;
    try {
      const policyOf = ({ name, patterns, retry: { maxAttempts } }: RegisteredHandler): HandlerPolicy => {
        return { handler: name, maxAttempts, types: patterns };
      };
      await store.keepPolicies(registry.all.map(policyOf));
    } catch (error) {
      if (!isPigeonholeError(error, "stopped")) logger.warn(errorFields(error, true), "policies_not_kept");
    }
  }
}
