import type { Clock } from "../base/clock.js";
import type { Logger } from "../base/logger.js";
import { CrashLoopingWork } from "./crash-looping-work.js";
import { HandlerQueue } from "./handler-queue.js";
import { HandlerWorker, type OutboxWorker, RunProgress } from "./handler-worker.js";
import type { Leases } from "./leases.js";
import { Places } from "./places.js";
import type { HandlerRegistry } from "./registry.js";
import type { Runner } from "./runner.js";

export interface HandlerWorkersDeps {
  registry: HandlerRegistry;
  runner: Runner;
  leases: Leases;
  sender: OutboxWorker | undefined;
  clock: Clock;
  logger: Logger;
}

/** The workers of all handlers; none before {@link create}. */
export class HandlerWorkers {
  readonly progress = new RunProgress();
  readonly #deps: HandlerWorkersDeps;
  readonly #byName = new Map<string, HandlerWorker>();
  readonly #crashLooping: CrashLoopingWork;

  constructor(deps: HandlerWorkersDeps) {
    this.#deps = deps;
    this.#crashLooping = new CrashLoopingWork(this.#byName, deps);
  }

  /** Makes a worker for each registered handler, in place of those of a start that failed. None takes work yet. */
  create(): void {
    const { progress } = this;
    const crashLooping = this.#crashLooping;
    const { all, concurrency } = this.#deps.registry;
    // The queue of a single handler is limit enough.
    const places = all.length > 1 ? new Places(concurrency) : undefined;
    for (const handler of all) {
      const queue = new HandlerQueue(handler, { ...this.#deps, places });
      const worker = new HandlerWorker(queue, { ...this.#deps, crashLooping, progress });
      this.#byName.set(handler.name, worker);
    }
  }

  get(handler: string): HandlerWorker | undefined {
    return this.#byName.get(handler);
  }

  get names(): string[] {
    return [...this.#byName.keys()];
  }

  /**
   * Lets work begin, but first crash-looping work, while nothing else may. Resolves with the end of that as soon as it
   * is known whether there is any: without it, what is accepted from then on may run at once.
   */
  async open(): Promise<{ opened: Promise<void> }> {
    const { ended } = await this.#crashLooping.runFirst();
    return { opened: ended.then(() => this.#openAll()) };
  }

  /** Work may have become pending in the store. */
  wake(): void {
    for (const worker of this.#all) worker.wake();
  }

  /** Work of these handlers is due. One that has much to do queries the store soon anyway. */
  wakeFor(handlers: readonly string[]): void {
    for (const name of handlers) {
      const worker = this.#byName.get(name);
      if (worker?.queue.window.hasRoomForPage === true) worker.wake();
    }
  }

  /** The store cannot be reached. */
  suspend(): void {
    for (const worker of this.#all) worker.suspend();
  }

  /** The store has answered what was asked at that time. */
  noteAnswer(askedAt: number): void {
    for (const worker of this.#all) worker.noteAnswer(askedAt);
  }

  async renew(now: number): Promise<void> {
    await Promise.all(this.#all.map((worker) => worker.renew(now)));
  }

  /** Gives back what has waited here for so long that another process should have it. */
  async giveBackStale(): Promise<void> {
    await this.#deps.leases.giveBack(this.#all.flatMap(({ queue }) => queue.window.takeStale()));
  }

  /** True when no work of these handlers is due in the store, and none is here. */
  get areIdle(): boolean {
    return this.#all.every(({ queue }) => queue.window.isIdle);
  }

  /** Since when the work that waits longest in this process for its handler is due; undefined when none waits. */
  get waitingSince(): number | undefined {
    const sinces = this.#all.map(({ queue }) => queue.window.waitingSince).filter((since) => since !== undefined);
    return sinces.length === 0 ? undefined : Math.min(...sinces);
  }

  /** Begins no more work, and gives back what has not begun. */
  async close(): Promise<void> {
    const waiting = await Promise.all(this.#all.map((worker) => worker.close()));
    await this.#deps.leases.giveBack(waiting.flat());
  }

  /** Resolves when all that has begun is settled. */
  async untilNoneRuns(): Promise<void> {
    await Promise.all(this.#all.map(({ queue }) => queue.window.untilNoneRuns()));
  }

  /** Aborts the current runs, which are then settled as not done. */
  abort(reason: Error): void {
    for (const { queue } of this.#all) queue.abort(reason);
  }

  get #all(): HandlerWorker[] {
    return [...this.#byName.values()];
  }

  #openAll(): void {
    for (const worker of this.#all) {
      worker.queue.window.open();
      worker.wake();
    }
  }
}
