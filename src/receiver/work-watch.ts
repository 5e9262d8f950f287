import type { Clock, Timer } from "../base/clock.js";
import { MINUTE } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import type { Logger } from "../base/logger.js";
import type { RunRecord } from "../dispatch/run-record.js";
import type { MissingHandlers } from "./missing-handlers.js";
import type { StoreCounter } from "./store-counter.js";
import type { WorkAlarms } from "./work-alarms.js";

/** How often the store is counted. */
const CHECK_INTERVAL_MS = MINUTE;

export interface WorkWatchDeps {
  counter: StoreCounter;
  record: RunRecord;
  workAlarms: WorkAlarms;
  missingHandlers: MissingHandlers;
  clock: Clock;
  logger: Logger;
}

/** Looks regularly for work that makes no progress: nothing else shows it, because deliveries are still answered. */
export class WorkWatch {
  readonly #deps: WorkWatchDeps;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(deps: WorkWatchDeps) {
    this.#deps = deps;
  }

  /** Waiting work is checked only after a while: a process that has just started has had no time to run it. */
  start(): void {
    this.#reportCrashLoops();
    this.#wait();
  }

  /** A process that lives for one drain may end before the first check. */
  stop(): void {
    this.#reportCrashLoops();
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Reports what a drain has left. Never rejects. */
  async checkDrained(): Promise<void> {
    const { counter, missingHandlers } = this.#deps;
    if (await this.#count()) missingHandlers.sawDrained(counter.figures);
  }

  #wait(): void {
    if (this.#stopped) return;
    this.#timer = this.#deps.clock.setTimer(() => {
      void this.#check().finally(() => this.#wait());
    }, CHECK_INTERVAL_MS);
  }

  async #check(): Promise<void> {
    const { counter, workAlarms, missingHandlers } = this.#deps;
    this.#reportCrashLoops();
    if (!(await this.#count())) return;
    workAlarms.sawFigures(counter.figures);
    missingHandlers.sawFigures(counter.figures);
  }

  /** False if the store cannot be counted now, or nothing is reported any more. */
  async #count(): Promise<boolean> {
    const { counter, logger } = this.#deps;
    try {
      await counter.count();
    } catch (error) {
      if (!this.#stopped) logger.error(errorFields(error, true), "counts_failed");
      return false;
    }
    return !this.#stopped;
  }

  #reportCrashLoops(): void {
    const { record, workAlarms } = this.#deps;
    workAlarms.sawCrashLoops(record.crashLoops);
  }
}
