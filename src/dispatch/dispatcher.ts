import { PigeonholeError } from "../base/error.js";
import { inTime } from "../base/wait.js";
import type { Delivery } from "../protocol/decode-delivery.js";
import type { GateName } from "../store/figures.js";
import type { AcceptResult } from "../store/store.js";
import type { TraceContext } from "../store/trace-context.js";
import type { Lease, LeasedWork, NewWork } from "../store/work.js";
import { readKey } from "./handler.js";
import { HandlerWorker } from "./handler-worker.js";
import { LEASE_MS } from "./leases.js";
import { Maintenance } from "./maintenance.js";
import type { RereadDeps } from "./read-again.js";
import type { Route } from "./registry.js";
import type { RunObserver, RunOutcome } from "./runner.js";
import { type DispatcherDeps, Scheduler } from "./scheduler.js";

/** A delivery that is to be stored, and the handlers that get it. */
interface IncomingEvent {
  /** Its id in the inbox. */
  id: string;
  delivery: Delivery;
  route: Route;
  /** When the whole body was received, in milliseconds since 1970. */
  receivedAt: number;
  /** The signed time, in milliseconds since 1970. */
  signedAt: number;
  body: Uint8Array;
  /** The span of the delivery; undefined without one. */
  trace: TraceContext | undefined;
}

/**
 * Stores events with their work, and runs the handlers where this process may. The store is authoritative; what is in
 * memory here can be lost at any time.
 */
export class Dispatcher {
  readonly #deps: DispatcherDeps;
  readonly #scheduler: Scheduler;
  readonly #maintenance: Maintenance;
  /** Of all handlers by name, from the start on. */
  readonly #workers = new Map<string, HandlerWorker>();

  constructor(deps: DispatcherDeps, operator: RereadDeps["operator"]) {
    this.#deps = deps;
    this.#scheduler = new Scheduler(this.#workers, deps);
    const tools = { workers: this.#workers, scheduler: this.#scheduler, operator };
    this.#maintenance = new Maintenance(deps, tools);
  }

  /** Takes over what a dead process left, and begins to run handlers, watched by `observer`. */
  async start(observer: RunObserver | undefined): Promise<void> {
    const { runner, registry } = this.#deps;
    runner.observer = observer;
    // In place of those of a start that failed.
    for (const handler of registry.all)
      this.#workers.set(handler.name, new HandlerWorker(handler, this.#scheduler, this.#deps));
    await this.#maintenance.start();
  }

  /**
   * Takes no more work, waits up to `timeoutMs` for current runs, then aborts them. Unfinished work is pending again
   * for the next process.
   */
  async stop(timeoutMs: number): Promise<void> {
    const ended = this.#maintenance.stop();
    const closed = this.#close();
    await inTime(this.#untilNoneRuns(), this.#deps.clock, timeoutMs);
    this.#scheduler.leases.isEnding = true;
    const reason = new PigeonholeError("stopped", "The receiver stopped before the handler was done; it runs again.");
    for (const worker of this.#all) worker.runs.abort(reason);
    await Promise.all([this.#untilNoneRuns(), closed, ended]);
    await this.#scheduler.leases.giveBack([]);
  }

  /**
   * Stores an event with its work, and runs the part that was leased in the same commit once it can be answered.
   * Rejects as the store does.
   */
  async accept(incoming: IncomingEvent): Promise<AcceptResult> {
    const { id, delivery, route, receivedAt, signedAt, body, trace } = incoming;
    const { type, test } = delivery.kind === "event" ? delivery.event : delivery;
    const work = this.#plan(incoming);
    const event = { id, type, test, receivedAt, signedAt, body, work, parked: route.parked, trace };
    let result: AcceptResult | undefined;
    try {
      result = await this.#deps.store.accept(event);
      return result;
    } finally {
      this.#begin(work, result, incoming);
    }
  }

  /** Work may have become pending in the store. */
  wake(): void {
    this.#scheduler.wake();
  }

  /** What waits for a batch to be full begins now, unless more of it is about to come. */
  endWaits(): void {
    for (const worker of this.#all) worker.endWait();
  }

  /** Reads the events again whose retry was requested from outside. */
  async readRequested(): Promise<void> {
    await this.#maintenance.readRequested();
  }

  /** Runs since the start, by how they ended. */
  get outcomes(): Readonly<Record<RunOutcome, number>> {
    return this.#scheduler.progress.outcomes;
  }

  /** True when no work of these handlers is due in the store, and none is here. */
  get isIdle(): boolean {
    return this.#all.every(({ isIdle }) => isIdle);
  }

  /** Resolves when it is idle, or `signal` is aborted. Until then, a batch waits for nothing but what is due. */
  async untilIdle(signal: AbortSignal): Promise<void> {
    const { progress } = this.#scheduler;
    const note = (): void => progress.noteChange();
    signal.addEventListener("abort", note, { once: true });
    while (!this.isIdle && !signal.aborted) {
      const changed = progress.untilChanged();
      this.endWaits();
      await changed;
    }
    signal.removeEventListener("abort", note);
  }

  /** True once this process runs the handlers of the store. */
  get isOwner(): boolean {
    return this.#maintenance.isOwner;
  }

  /** What keeps work waiting, by handler, in the process that runs them. */
  get waitsFor(): Record<string, GateName> {
    return this.isOwner ? this.#scheduler.waitsFor : {};
  }

  /** Since when the work that waits longest in this process for its handler is due; undefined when none waits. */
  get waitingSince(): number | undefined {
    const dueAts = this.#all.flatMap(({ window }) => window.waiting.map(({ lease }) => lease.dueAt));
    return dueAts.toSorted((one, other) => one - other)[0];
  }

  /** Plans the work of an event that is to be stored. Where a worker has room, it is leased in the same commit. */
  #plan({ id, delivery, route }: IncomingEvent): NewWork[] {
    return route.handlers.map((handler) => {
      const work: NewWork = { handler: handler.name };
      if (this.#workers.get(handler.name)?.reserve() === true) work.leaseUntil = this.#deps.clock.now() + LEASE_MS;
      if (handler.only !== undefined && delivery.kind === "event") {
        // What the key function throws is logged when the work is read.
        work.newest = readKey(handler, { event: delivery.event, inboxId: id, logger: undefined }).newest;
      }
      return work;
    });
  }

  /** If the event is in the store, runs what was leased with it once it is answered. */
  #begin(planned: readonly NewWork[], result: AcceptResult | undefined, incoming: IncomingEvent): void {
    const leases = result?.kind === "stored" ? result.leases : [];
    let index = 0;
    for (const { handler, leaseUntil, newest } of planned) {
      const worker = this.#workers.get(handler);
      if (leaseUntil === undefined) {
        if (result?.kind === "stored") worker?.wake();
        continue;
      }
      const lease = leases[index];
      // A second handler reads the event again: it must not see what the first one changed in it.
      const delivery = index === 0 ? incoming.delivery : lease && this.#deps.registry.read(incoming.body);
      index += 1;
      if (lease === undefined || delivery?.kind !== "event") worker?.unreserve();
      else {
        const { event } = delivery;
        setImmediate(() => worker?.take(firstRun(lease, incoming), event, newest));
      }
    }
  }

  /** Begins no more work, and gives back what has not begun. */
  async #close(): Promise<void> {
    const waiting = await Promise.all(this.#all.map((worker) => worker.close()));
    await this.#scheduler.leases.giveBack(waiting.flat());
  }

  /** Resolves when all that has begun is settled. */
  async #untilNoneRuns(): Promise<void> {
    while (this.#all.some(({ window }) => window.hasBegun)) await this.#scheduler.progress.untilChanged();
  }

  get #all(): HandlerWorker[] {
    return [...this.#workers.values()];
  }
}

/** The first run of an event that was leased as it was accepted. */
function firstRun(
  { seq, handler, token }: Lease,
  { id: eventId, receivedAt, signedAt, body, trace }: IncomingEvent,
): LeasedWork {
  const counts = { attempt: 1, failures: 0, crashes: 0 };
  return { seq, handler, token, eventId, receivedAt, signedAt, dueAt: receivedAt, ...counts, body, trace };
}
