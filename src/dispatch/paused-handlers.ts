import type { Clock } from "../base/clock.js";
import { HOUR } from "../base/duration.js";
import type { Logger } from "../base/logger.js";
import type { PausedHandler } from "../store/paused-handlers.js";
import type { Store } from "../store/store.js";

/** A handler that stays paused is named again after this: its work waits, and nothing else shows it. */
const REMIND_MS = 6 * HOUR;

/** A handler, as far as its pauses need it. */
interface PausableWorker {
  pause(): void;
  resume(): void;
}

export interface PausedHandlersDeps {
  store: Store<unknown>;
  workers: { get(handler: string): PausableWorker | undefined };
  clock: Clock;
  logger: Logger;
}

/** Follows in this process which handlers a person has paused. */
export class PausedHandlers {
  readonly #deps: PausedHandlersDeps;
  #paused: readonly PausedHandler[] = [];
  #remindedAt = 0;

  constructor(deps: PausedHandlersDeps) {
    this.#deps = deps;
  }

  /** Pauses and resumes the workers. `names`: those that are paused, if they are known. Rejects as the store does. */
  async check(names?: readonly string[]): Promise<void> {
    if (names === undefined || !this.#are(names)) this.#follow(await this.#deps.store.listPaused());
    this.#remind();
  }

  #are(names: readonly string[]): boolean {
    return names.length === this.#paused.length && this.#paused.every(({ handler }) => names.includes(handler));
  }

  #follow(paused: readonly PausedHandler[]): void {
    const { workers, clock, logger } = this.#deps;
    const before = this.#paused;
    this.#paused = paused;
    for (const each of paused) {
      const worker = workers.get(each.handler);
      if (worker === undefined || has(before, each.handler)) continue;
      worker.pause();
      logger.warn({ ...each }, "handler_paused");
      this.#remindedAt = clock.now();
    }
    for (const { handler } of before) {
      const worker = workers.get(handler);
      if (worker === undefined || has(paused, handler)) continue;
      worker.resume();
      logger.info({ handler }, "handler_resumed");
    }
  }

  #remind(): void {
    const { workers, clock, logger } = this.#deps;
    const here = this.#paused.filter(({ handler }) => workers.get(handler) !== undefined);
    const now = clock.now();
    // A time in the future is from a clock that has since been set back.
    if (here.length === 0 || (now >= this.#remindedAt && now - this.#remindedAt < REMIND_MS)) return;
    this.#remindedAt = now;
    for (const each of here) logger.warn({ ...each }, "handler_paused");
  }
}

function has(paused: readonly PausedHandler[], name: string): boolean {
  return paused.some(({ handler }) => handler === name);
}
