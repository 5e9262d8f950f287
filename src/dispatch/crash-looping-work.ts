import type { Clock } from "../base/clock.js";
import { MINUTE } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import { LATE, inTime } from "../base/wait.js";
import type { Logger } from "../base/logger.js";
import type { DueWork } from "./due-work.js";
import type { HandlerQueue } from "./handler-queue.js";
import type { ReadyWork } from "./lease-window.js";

/** Before work that must run alone, nothing else starts for this long. Runs end in it unless `timeoutMs` is raised. */
const QUIET_WAIT_MS = MINUTE;
/** It is tried again after this, so that longer runs do not block all others. */
const NOT_QUIET_WAIT_MS = 10 * MINUTE;

export interface CrashLoopingWorkDeps {
  due: DueWork;
  clock: Clock;
  logger: Logger;
}

/** Leased work, and the queue of its handler. */
export interface QueuedWork {
  queue: HandlerQueue;
  ready: ReadyWork;
}

/**
 * Work that two processes died in. It runs one piece at a time while nothing else runs: a further crash must have only
 * one possible cause. Each piece is leased when the caller has settled the one before.
 */
export class CrashLoopingWork {
  readonly #deps: CrashLoopingWorkDeps;
  #notBefore = 0;

  constructor(deps: CrashLoopingWorkDeps) {
    this.#deps = deps;
  }

  /** False for a while after other runs went on for too long to wait for their end. */
  get mayRun(): boolean {
    return this.#deps.clock.now() >= this.#notBefore;
  }

  /** Stops these queues and waits until none of them runs, then leases what is due. They continue at the end. */
  async *leaseAlone(queues: readonly HandlerQueue[]): AsyncGenerator<QueuedWork, void> {
    const { clock } = this.#deps;
    try {
      const quiet = Promise.all(queues.map((queue) => queue.pause()));
      if ((await inTime(quiet, clock, QUIET_WAIT_MS)) === LATE) {
        this.#notBefore = clock.now() + NOT_QUIET_WAIT_MS;
        return;
      }
      yield* this.lease(queues);
    } finally {
      for (const queue of queues) queue.resume();
    }
  }

  /** Leases what is due, one queue after another. The caller ensures that nothing else runs. */
  async *lease(queues: readonly HandlerQueue[]): AsyncGenerator<QueuedWork, void> {
    for (const queue of queues) yield* this.#leaseOf(queue);
  }

  async *#leaseOf(queue: HandlerQueue): AsyncGenerator<QueuedWork, void> {
    const { due, logger } = this.#deps;
    try {
      for (let isLeft = !queue.window.isClosed; isLeft;) {
        const page = await due.leaseCrashLooping(queue.window);
        if (page.ready !== undefined) yield { queue, ready: page.ready };
        ({ isLeft } = page);
      }
    } catch (error) {
      logger.error({ handler: queue.handler.name, ...errorFields(error, true) }, "handler_queue_failed");
    }
  }
}
