import type { Clock, Timer } from "../base/clock.js";
import { HOUR, MINUTE } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import type { Logger } from "../base/logger.js";
import type { Dispatcher } from "../dispatch/dispatcher.js";
import type { RunRecord } from "../dispatch/run-record.js";
import type { HandlerRegistry } from "../dispatch/registry.js";
import type { Alarms } from "./alarms.js";
import type { StoreCounter, StoreFigures } from "./store-counter.js";

/** How often the store is counted. */
const CHECK_INTERVAL_MS = MINUTE;
/** An unchanged problem is reported again after this. */
const REMIND_MS = 6 * HOUR;

export interface WorkWatchDeps {
  counter: StoreCounter;
  dispatcher: Dispatcher;
  record: RunRecord;
  registry: HandlerRegistry;
  alarms: Alarms;
  clock: Clock;
  logger: Logger;
  /** Work that has been due for longer is an alarm, and so are contact events that have waited for longer. */
  backlogAfterMs: number;
}

/** Raises alarms for work that makes no progress: nothing else shows it, because deliveries are still answered. */
export class WorkWatch {
  readonly #deps: WorkWatchDeps;
  readonly #dead: Reminder;
  readonly #deadContactEvents: Reminder;
  readonly #backlog: Reminder;
  readonly #stuckContactEvents: Reminder;
  readonly #missing: Reminder;
  readonly #missingInDrain: Reminder;
  /** Handlers that had work at the last check and are not registered. */
  #lastMissing: ReadonlySet<string> = new Set();
  #crashLoops = 0;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(deps: WorkWatchDeps) {
    const { clock, backlogAfterMs } = deps;
    this.#deps = deps;
    this.#dead = new Reminder(clock, REMIND_MS);
    this.#deadContactEvents = new Reminder(clock, REMIND_MS);
    this.#missing = new Reminder(clock, REMIND_MS);
    this.#missingInDrain = new Reminder(clock, REMIND_MS);
    this.#backlog = new Reminder(clock, backlogAfterMs);
    this.#stuckContactEvents = new Reminder(clock, backlogAfterMs);
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

  /**
   * Reports work without a handler that a drain has left: where handlers run only in drains, no other check finds it.
   * Never rejects.
   */
  async checkDrained(): Promise<void> {
    if (await this.#count()) this.#raiseMissing(this.#findMissing(), this.#missingInDrain);
  }

  #wait(): void {
    if (this.#stopped) return;
    this.#timer = this.#deps.clock.setTimer(() => {
      void this.#check().finally(() => this.#wait());
    }, CHECK_INTERVAL_MS);
  }

  async #check(): Promise<void> {
    this.#reportCrashLoops();
    if (!(await this.#count())) return;
    const { figures } = this.#deps.counter;
    this.#reportDead(figures);
    this.#reportBacklog(figures);
    this.#reportMissing();
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
    const { record, alarms } = this.#deps;
    const parked = record.crashLoops;
    if (parked > this.#crashLoops) alarms.raise({ kind: "crash_loop", parked });
    this.#crashLoops = parked;
  }

  #reportDead({ dead, outbox }: StoreFigures): void {
    const { alarms } = this.#deps;
    if (this.#dead.isDue(dead)) alarms.raise({ kind: "work_dead", dead });
    if (this.#deadContactEvents.isDue(outbox.dead)) alarms.raise({ kind: "contact_events_dead", dead: outbox.dead });
  }

  #reportBacklog({ pending, leased, lagMs, outbox }: StoreFigures): void {
    const { alarms, backlogAfterMs } = this.#deps;
    if (this.#backlog.isDue(lagMs > backlogAfterMs ? 1 : 0)) {
      alarms.raise({ kind: "backlog", forMs: lagMs, pending: pending + leased });
    }
    if (this.#stuckContactEvents.isDue(outbox.oldestAgeMs > backlogAfterMs ? 1 : 0)) {
      const { pending: waiting, leased: underWay, oldestAgeMs } = outbox;
      alarms.raise({ kind: "contact_events_stuck", forMs: oldestAgeMs, pending: waiting + underWay });
    }
  }

  /** One check is not enough: during a deploy the next process, which has the handler, is about to take over. */
  #reportMissing(): void {
    const missing = this.#deps.dispatcher.ownership.isOwner ? this.#findMissing() : [];
    const handlers = missing.filter((name) => this.#lastMissing.has(name));
    this.#lastMissing = new Set(missing);
    this.#raiseMissing(handlers, this.#missing);
  }

  #findMissing(): string[] {
    const { registry, counter } = this.#deps;
    const registered = new Set(registry.all.map(({ name }) => name));
    return Object.keys(counter.figures.pendingByHandler).filter((name) => !registered.has(name));
  }

  #raiseMissing(handlers: readonly string[], reminder: Reminder): void {
    if (!reminder.isDue(handlers.length)) return;
    const { pendingByHandler } = this.#deps.counter.figures;
    const pending = handlers.reduce((sum, name) => sum + (pendingByHandler[name] ?? 0), 0);
    this.#deps.alarms.raise({ kind: "handler_missing", handlers, pending });
  }
}

/** Says when a count is to be reported: when it has grown, and repeatedly while it is not 0. */
class Reminder {
  readonly #clock: Clock;
  readonly #againMs: number;
  #count = 0;
  #reportedAt = 0;

  constructor(clock: Clock, againMs: number) {
    this.#clock = clock;
    this.#againMs = againMs;
  }

  isDue(count: number): boolean {
    const now = this.#clock.now();
    const hasGrown = count > this.#count;
    this.#count = count;
    // A time in the future is from a clock that has since been set back.
    const isAgain = now < this.#reportedAt || now - this.#reportedAt >= this.#againMs;
    if (count === 0 || !(hasGrown || isAgain)) return false;
    this.#reportedAt = now;
    return true;
  }
}
