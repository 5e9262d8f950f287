import { type Timer, elapsedBy } from "../base/clock.js";
import { MINUTE } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import type { RunRecord } from "../dispatch/handler-runs.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { DeliveryPath } from "./handle-delivery.js";
import type { ResolvedOptions } from "./options.js";
import type { StoreCounter } from "./store-counter.js";
import { type WorkReading, WorkWatch } from "./work-watch.js";

/** How often the store is counted. */
const ROUND_MS = MINUTE;

/** So many of them say what the cause is. */
const NEWEST_PARKED = { state: "parked", limit: 100 } as const;

export interface WatchRoundDeps {
  options: Pick<ResolvedOptions, "clock" | "logger" | "role" | "backlogAfterMs" | "silenceAfterMs">;
  path: Pick<DeliveryPath, "registry" | "dispatcher" | "report">;
  counter: StoreCounter;
  record: RunRecord;
  operator: Pick<InboxOperator, "listEvents">;
}

/** Reads once a minute what no single delivery shows, and passes it to the watch. */
export class WatchRound {
  readonly #deps: WatchRoundDeps;
  readonly #work: WorkWatch;
  #timer: Timer | undefined;
  #startedBy = 0;
  #stopped = false;
  #isCounting = false;
  /** Handlers that had work in the last round and are not registered. */
  #lastMissing: ReadonlySet<string> = new Set();

  constructor(deps: WatchRoundDeps) {
    this.#deps = deps;
    this.#work = new WorkWatch(deps.options.clock, deps.options);
  }

  /** Waiting work is looked at only after a while: a process that has just started has had no time to run it. */
  start(): void {
    this.#startedBy = elapsedBy(this.#deps.options.clock);
    this.#look({ crashLoops: this.#deps.record.crashLoops });
    this.#wait();
  }

  /** A process that lives for one drain may end before the first round. */
  stop(): void {
    const { record, path } = this.#deps;
    this.#look({ crashLoops: record.crashLoops });
    path.report.answers.endMinute();
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Where handlers run only in drains, no later round finds what one has left. Never rejects. */
  async lookDrained(): Promise<void> {
    if (await this.#count()) this.#look({ missing: this.#missing });
  }

  #look(reading: WorkReading): void {
    if (!this.#stopped) this.#deps.path.report.alarms.take(this.#work.look(reading));
  }

  #wait(): void {
    if (this.#stopped) return;
    const { options, path, record } = this.#deps;
    this.#timer = options.clock.setTimer(() => {
      path.report.answers.endMinute();
      this.#look({ crashLoops: record.crashLoops, ...(options.role !== "work" && { silentForMs: this.#silentForMs }) });
      // A store that hangs must not end the rounds.
      if (!this.#isCounting) void this.#lookAtStore();
      this.#wait();
    }, ROUND_MS);
  }

  async #lookAtStore(): Promise<void> {
    const { path, counter, operator } = this.#deps;
    this.#isCounting = true;
    if (await this.#count()) {
      const { figures } = counter;
      // A store that fails is reported elsewhere.
      const newest = figures.parked === 0 ? undefined : await operator.listEvents(NEWEST_PARKED).catch(() => undefined);
      const parked = newest?.items;
      this.#look({ figures, parked, missing: path.dispatcher.ownership.isOwner ? this.#missingTwice() : undefined });
    }
    this.#isCounting = false;
  }

  /** False if the store cannot be counted now, or nothing is reported any more. */
  async #count(): Promise<boolean> {
    const { counter, options } = this.#deps;
    try {
      await counter.count();
    } catch (error) {
      if (!this.#stopped) options.logger.error(errorFields(error, true), "counts_failed");
      return false;
    }
    return !this.#stopped;
  }

  get #silentForMs(): number {
    const { options, path } = this.#deps;
    return elapsedBy(options.clock) - Math.max(this.#startedBy, path.report.answers.lastAcceptedBy);
  }

  /** Work whose handler is not registered, by handler. */
  get #missing(): Record<string, number> {
    const registered = new Set(this.#deps.path.registry.all.map(({ name }) => name));
    const { pendingByHandler } = this.#deps.counter.figures;
    return Object.fromEntries(Object.entries(pendingByHandler).filter(([name]) => !registered.has(name)));
  }

  /** Once is not enough: during a deploy the next process, which has the handler, is about to take over. */
  #missingTwice(): Record<string, number> {
    const missing = Object.entries(this.#missing);
    const last = this.#lastMissing;
    this.#lastMissing = new Set(missing.map(([name]) => name));
    return Object.fromEntries(missing.filter(([name]) => last.has(name)));
  }
}
