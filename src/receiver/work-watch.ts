import { type Timer, elapsedBy } from "../base/clock.js";
import { MINUTE } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import type { RunRecord } from "../dispatch/handler-runs.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { EventView } from "../store/inbox-view.js";
import type { DeliveryPath } from "./handle-delivery.js";
import type { ResolvedOptions } from "./options.js";
import { type StoreCounter, openIn } from "./store-counter.js";

/** How often the store is counted. */
const ROUND_MS = MINUTE;

/** So many of them say what the cause is. */
const NEWEST_PARKED = { state: "parked", limit: 100 } as const;

export interface WorkWatchDeps {
  options: Pick<ResolvedOptions, "clock" | "logger" | "role" | "backlogAfterMs" | "silenceAfterMs">;
  path: Pick<DeliveryPath, "registry" | "dispatcher" | "report">;
  counter: StoreCounter;
  record: RunRecord;
  operator: Pick<InboxOperator, "listEvents">;
}

/** Looks once a minute for what makes no progress: nothing else shows it, because deliveries are still answered. */
export class WorkWatch {
  readonly #deps: WorkWatchDeps;
  #timer: Timer | undefined;
  #startedBy = 0;
  #stopped = false;
  /** Undefined while none is under way; never rejects. */
  #looking: Promise<void> | undefined;
  /** Handlers that had work in the last round and are not registered. */
  #lastMissing: ReadonlySet<string> = new Set();

  constructor(deps: WorkWatchDeps) {
    this.#deps = deps;
  }

  /** Waiting work is looked at only after a while: a process that has just started has had no time to run it. */
  start(): void {
    this.#startedBy = elapsedBy(this.#deps.options.clock);
    this.#showCrashLoops();
    // A long backlog takes seconds to count, and deliveries do not wait for what is only shown.
    void this.#look(() => this.#noteFirst());
    this.#wait();
  }

  /** A process that lives for one drain may end before the first round. */
  stop(): void {
    this.#showCrashLoops();
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Where handlers run only in drains, no later round finds what one has left. Never rejects. */
  async lookDrained(): Promise<void> {
    await this.#looking;
    await this.#look(() => this.#showMissing(this.#missing));
  }

  #wait(): void {
    if (this.#stopped) return;
    const { clock, role } = this.#deps.options;
    this.#timer = clock.setTimer(() => {
      this.#showCrashLoops();
      if (role !== "work") this.#showSilence();
      // A store that hangs must not end the rounds.
      void this.#look(() => this.#showFigures());
      this.#wait();
    }, ROUND_MS);
  }

  /** Counts the store, and looks at what was counted; one at a time. Never rejects. */
  #look(at: () => void | Promise<void>): Promise<void> {
    this.#looking ??= this.#countThen(at).finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #countThen(at: () => void | Promise<void>): Promise<void> {
    const { counter, options } = this.#deps;
    try {
      await counter.count();
      if (!this.#stopped) await at();
    } catch (error) {
      if (!this.#stopped) options.logger.error(errorFields(error, true), "counts_failed");
    }
  }

  /** What was accepted before the start says how long the endpoint has been silent. */
  #noteFirst(): void {
    const { counter, options, path } = this.#deps;
    path.report.answers.lastAcceptedAt ??= counter.newestReceivedAt;
    for (const [handler, pending] of Object.entries(this.#missing)) {
      options.logger.warn({ handler, pending }, "work_waits_for_a_handler_that_is_not_registered");
    }
  }

  #showCrashLoops(): void {
    const { crashLoops: parked } = this.#deps.record;
    if (!this.#stopped) this.#deps.path.report.alarms.show({ kind: "crash_loop", parked }, parked, Infinity);
  }

  #showSilence(): void {
    const { options, path } = this.#deps;
    const { clock, silenceAfterMs = Infinity } = options;
    const sinceMs = elapsedBy(clock) - Math.max(this.#startedBy, path.report.answers.lastAcceptedBy);
    path.report.alarms.show({ kind: "silence", sinceMs }, Number(sinceMs >= silenceAfterMs), silenceAfterMs);
  }

  async #showFigures(): Promise<void> {
    const { options, path, counter } = this.#deps;
    const { backlogAfterMs } = options;
    const { alarms } = path.report;
    const { figures } = counter;
    const { dead, lagMs, outbox, repair, parked } = figures;
    alarms.show({ kind: "work_dead", dead }, dead);
    alarms.show({ kind: "contact_events_dead", dead: outbox.dead }, outbox.dead);
    const isLate = (forMs: number): number => Number(forMs > backlogAfterMs);
    alarms.show({ kind: "backlog", forMs: lagMs, pending: openIn(figures) }, isLate(lagMs), backlogAfterMs);
    const stuck = { forMs: outbox.oldestAgeMs, pending: openIn(outbox) };
    alarms.show({ kind: "contact_events_stuck", ...stuck }, isLate(stuck.forMs), backlogAfterMs);
    if (repair !== null) {
      const { at, ...round } = repair;
      // Each round that misses some is news.
      const level = round.missing > 0 || round.refused !== null ? Date.parse(at) : 0;
      alarms.show({ kind: "events_missed", ...round }, level, Infinity);
    }
    if (path.dispatcher.isOwner) this.#showMissing(this.#missingTwice());
    await this.#showParked(parked);
  }

  /** With the reason of the newest events, which is usually that of all. */
  async #showParked(parked: number): Promise<void> {
    const { operator, path } = this.#deps;
    // A store that fails is reported elsewhere.
    const newest = parked === 0 ? undefined : await operator.listEvents(NEWEST_PARKED).catch(() => undefined);
    const events = newest?.items ?? [];
    const [reason] = events.flatMap(reasonsOf);
    // Without one, the next round reports it.
    if (this.#stopped || (parked > 0 && reason === undefined)) return;
    const types = new Set(events.filter((event) => reasonsOf(event).includes(reason ?? "")).map(({ type }) => type));
    // What is not JSON has none.
    types.delete("");
    path.report.alarms.show({ kind: "work_parked", reason: reason ?? "", types: [...types], parked }, parked);
  }

  #showMissing(missing: Readonly<Record<string, number>>): void {
    const handlers = Object.keys(missing);
    const pending = Object.values(missing).reduce((sum, count) => sum + count, 0);
    this.#deps.path.report.alarms.show({ kind: "handler_missing", handlers, pending }, handlers.length);
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

function reasonsOf({ handlers }: EventView): string[] {
  return handlers.flatMap(({ state, reason }) => (state === "parked" && reason !== null ? [reason] : []));
}
