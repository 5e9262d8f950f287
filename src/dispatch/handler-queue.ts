import PQueue from "p-queue";
import type { Clock } from "../base/clock.js";
import { Deadlines } from "../base/deadlines.js";
import { SECOND } from "../base/duration.js";
import { type Backoff, backoffDelay } from "../base/retry-wait.js";
import { sleep } from "../base/wait.js";
import type { Lease } from "../store/work.js";
import { errorFields } from "../base/error-fields.js";
import type { Logger } from "../base/logger.js";
import type { RegisteredHandler } from "./handler.js";
import { KeyedOrder } from "./keyed-order.js";
import { LeaseWindow, type ReadyWork } from "./lease-window.js";
import type { Leases } from "./leases.js";
import type { HandlerRun } from "./handler-run.js";
import type { Places } from "./places.js";
import type { Interruptions, RunTimes } from "./run-record.js";
import type { RunResult, Runner } from "./runner.js";
import { StoreAbsence } from "./store-absence.js";
import { LONE_LIMIT, SharedLimit } from "./window-limit.js";

const NOT_BEGUN = Promise.resolve(undefined);

/** A store that fails is asked for a key again after these waits. */
const KEY_WAITS: Backoff = { initialMs: SECOND / 8, factor: 2, maxMs: SECOND, jitter: 0.2 };

export interface HandlerQueueDeps {
  leases: Leases;
  runner: Runner;
  /** Places shared by all handlers; undefined when this handler is the only one. */
  places: Places | undefined;
  clock: Clock;
  logger: Logger;
}

/**
 * The order in which one handler runs its leased work: first in, first out, `concurrency` or its share of the places at
 * once, one at a time per key.
 */
export class HandlerQueue {
  readonly handler: RegisteredHandler;
  readonly window: LeaseWindow;
  /** The current runs, which expire by the handler's `timeoutMs`. */
  readonly deadlines: Deadlines<HandlerRun>;
  /** How long its runs took. */
  readonly times: RunTimes;
  /** The work under whose last runs the store has failed. */
  readonly interruptions: Interruptions;
  readonly #deps: HandlerQueueDeps;
  readonly #queue: PQueue;
  readonly #order = new KeyedOrder();

  constructor(handler: RegisteredHandler, deps: HandlerQueueDeps) {
    this.handler = handler;
    const { leases, runner, places, clock } = deps;
    const concurrency = Math.min(handler.concurrency, places?.share ?? Infinity);
    const limit = leases.areShared ? new SharedLimit(concurrency, clock) : LONE_LIMIT;
    this.window = new LeaseWindow(handler, limit, new StoreAbsence(clock));
    this.deadlines = new Deadlines(clock, handler.timeoutMs);
    this.times = runner.record.timesOf(handler.name);
    this.interruptions = runner.record.interruptionsOf(handler.name);
    runner.record.watch(handler.name, this.deadlines);
    this.#deps = deps;
    this.#queue = new PQueue({ concurrency });
  }

  /**
   * Runs work in its turn. Resolves when the handler has ended and freed its place; undefined when it must no longer
   * begin.
   */
  run(ready: ReadyWork): Promise<RunResult | undefined> {
    const key = this.#keyOf(ready);
    return key === undefined ? this.#runInPlace(ready) : this.#runInOrder(ready, key);
  }

  /** Aborts current runs, which are then settled as not done. */
  abort(reason: Error): void {
    for (const run of this.deadlines.underWay) run.stop(reason);
  }

  /** The lease has a new holder: its run is aborted, and writes nothing any more. */
  lose(lease: Lease): void {
    this.window.forget(lease);
    for (const run of this.deadlines.underWay) if (run.isUnder(lease)) run.lose();
  }

  /** Runs work at once, without a place in the queue: all queues are paused, and nothing runs. */
  runAlone(ready: ReadyWork): Promise<RunResult | undefined> {
    const key = this.#keyOf(ready);
    return key === undefined ? this.#begin(ready) : this.#beginWithKey(ready, key);
  }

  /** Lets no more work begin until `resume`. Resolves when none runs. */
  pause(): Promise<void> {
    this.#queue.pause();
    return this.#queue.onPendingZero();
  }

  resume(): void {
    this.#queue.start();
  }

  /** Drops the work that waits for its turn. */
  clear(): void {
    this.#queue.clear();
    this.#order.clear();
  }

  async #runInOrder(ready: ReadyWork, key: string): Promise<RunResult | undefined> {
    if (this.#order.isBusy(key) && !this.window.mayWaitForKey(this.#order.count)) {
      // The store refuses it, and then it waits there.
      return (await this.#takeKey(ready, key)) ? this.#runInPlace(ready) : undefined;
    }
    await this.#order.enter(key);
    try {
      return await this.#inPlace(() => this.#beginWithKey(ready, key));
    } finally {
      this.#order.leave(key);
    }
  }

  #runInPlace(ready: ReadyWork): Promise<RunResult | undefined> {
    return this.#inPlace(() => this.#begin(ready));
  }

  #inPlace<Result>(begin: () => Promise<Result>): Promise<Result> {
    const { places } = this.#deps;
    return this.#queue.add(() => (places === undefined ? begin() : this.#beginIn(places, begin)));
  }

  async #beginIn<Result>(places: Places, begin: () => Promise<Result>): Promise<Result> {
    const { name } = this.handler;
    await places.enter(name);
    try {
      return await begin();
    } finally {
      places.leave(name);
    }
  }

  async #beginWithKey(ready: ReadyWork, key: string): Promise<RunResult | undefined> {
    return (await this.#takeKey(ready, key)) ? this.#begin(ready) : undefined;
  }

  /** False when the work must no longer begin here: while other work has the key, it waits for that in the store. */
  async #takeKey({ lease }: ReadyWork, key: string): Promise<boolean> {
    const { leases, clock } = this.#deps;
    for (let attempt = 1; this.window.mayBegin(lease); attempt += 1) {
      const isHeld = await leases.holdKey(lease, key);
      if (isHeld === true) return true;
      if (isHeld === false) {
        this.window.leaveToStore(lease);
        return false;
      }
      await sleep(clock, backoffDelay(KEY_WAITS, attempt, Math.random));
    }
    return false;
  }

  #begin(ready: ReadyWork): Promise<RunResult | undefined> {
    return this.window.begin(ready.lease) ? this.#deps.runner.run(this, ready) : NOT_BEGUN;
  }

  /** A key function that throws must not lose the event: it runs without a key, and its handler gets the same data. */
  #keyOf({ event }: ReadyWork): string | undefined {
    try {
      return this.handler.key?.(event);
    } catch (error) {
      this.#deps.logger.error({ handler: this.handler.name, ...errorFields(error, false) }, "handler_queue_failed");
      return undefined;
    }
  }
}
