import type { Clock } from "../base/clock.js";
import { MINUTE } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import { LATE, inTime } from "../base/wait.js";
import type { Logger } from "../base/logger.js";
import type { HandlerQueue } from "./handler-queue.js";
import type { ReadyWork } from "./lease-window.js";
import type { Leases } from "./leases.js";

/** Before work that must run alone, nothing else starts for this long. Runs end in it unless `timeoutMs` is raised. */
const QUIET_WAIT_MS = MINUTE;
/** It is tried again after this, so that longer runs do not block all others. */
const NOT_QUIET_WAIT_MS = 10 * MINUTE;

/** A handler, as far as work that runs alone needs it. */
interface LoneWorker {
  readonly queue: HandlerQueue;
  /** Runs and settles one piece of work while nothing else runs. Never rejects. */
  workAlone(ready: ReadyWork): Promise<void>;
}

interface Piece {
  worker: LoneWorker;
  ready: ReadyWork;
}

export interface CrashLoopingWorkDeps {
  leases: Leases;
  clock: Clock;
  logger: Logger;
}

/**
 * Work that two processes died in. It runs one piece at a time while nothing else runs: a further crash must have only
 * one possible cause.
 */
export class CrashLoopingWork {
  readonly #workers: ReadonlyMap<string, LoneWorker>;
  readonly #deps: CrashLoopingWorkDeps;
  #notBefore = 0;
  #round: Promise<void> | undefined;

  /** `workers`: of all handlers by name, also those that are added later. */
  constructor(workers: ReadonlyMap<string, LoneWorker>, deps: CrashLoopingWorkDeps) {
    this.#workers = workers;
    this.#deps = deps;
  }

  /** False for a while after other runs went on for too long to wait for their end. */
  get mayRun(): boolean {
    return this.#deps.clock.now() >= this.#notBefore;
  }

  /**
   * Stops all queues, and runs what is due once none of them runs. They continue at the end. One such round at a time.
   */
  run(): Promise<void> {
    this.#round ??= this.#runInQuiet().finally(() => (this.#round = undefined));
    return this.#round;
  }

  /**
   * Runs what is due before anything else has begun. Resolves with its end as soon as it is known whether there is any.
   */
  async runFirst(): Promise<{ ended: Promise<void> }> {
    const pieces = this.#lease();
    const first = await pieces.next();
    return { ended: runEach(first, pieces) };
  }

  async #runInQuiet(): Promise<void> {
    const { clock } = this.#deps;
    const queues = Array.from(this.#workers.values(), ({ queue }) => queue);
    try {
      const quiet = Promise.all(queues.map((queue) => queue.pause()));
      if ((await inTime(quiet, clock, QUIET_WAIT_MS)) === LATE) {
        this.#notBefore = clock.now() + NOT_QUIET_WAIT_MS;
        return;
      }
      const pieces = this.#lease();
      await runEach(await pieces.next(), pieces);
    } finally {
      for (const queue of queues) queue.resume();
    }
  }

  /** Leases what is due, one handler after another, each piece when the one before is settled. */
  async *#lease(): AsyncGenerator<Piece, void> {
    for (const worker of this.#workers.values()) yield* this.#leaseOf(worker);
  }

  async *#leaseOf(worker: LoneWorker): AsyncGenerator<Piece, void> {
    const { leases, logger } = this.#deps;
    const { window, handler } = worker.queue;
    try {
      for (let isLeft = !window.isClosed && !window.isHeld; isLeft;) {
        const page = await leases.leaseCrashLooping(window);
        if (page.ready !== undefined) yield { worker, ready: page.ready };
        ({ isLeft } = page);
      }
    } catch (error) {
      logger.error({ handler: handler.name, ...errorFields(error, true) }, "handler_queue_failed");
    }
  }
}

async function runEach(first: IteratorResult<Piece, void>, rest: AsyncGenerator<Piece, void>): Promise<void> {
  for (let next = first; next.done !== true; next = await rest.next()) {
    await next.value.worker.workAlone(next.value.ready);
  }
}
