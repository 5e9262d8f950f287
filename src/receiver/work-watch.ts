import { type Timer, elapsedBy } from "../base/clock.js";
import { HOUR, MINUTE } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import type { RunRecord } from "../dispatch/handler-runs.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { EventView } from "../store/inbox-view.js";
import type { Alarm } from "./alarm-table.js";
import type { DeliveryPath } from "./handle-delivery.js";
import type { ResolvedOptions } from "./options.js";
import { type StoreCounter, type StoreFigures, openIn } from "./store-counter.js";

/** How often the store is counted. */
const ROUND_MS = MINUTE;

/** An unchanged problem is reported again after this. */
const REMIND_MS = 6 * HOUR;

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
  readonly #reported = new Map<Alarm["kind"], { count: number; at: number }>();
  #timer: Timer | undefined;
  #startedBy = 0;
  #stopped = false;
  #isCounting = false;
  /** Handlers that had work in the last round and are not registered. */
  #lastMissing: ReadonlySet<string> = new Set();

  constructor(deps: WorkWatchDeps) {
    this.#deps = deps;
  }

  /** Waiting work is looked at only after a while: a process that has just started has had no time to run it. */
  start(): void {
    this.#startedBy = elapsedBy(this.#deps.options.clock);
    this.#noteCrashLoops();
    this.#wait();
  }

  /** A process that lives for one drain may end before the first round. */
  stop(): void {
    this.#noteCrashLoops();
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Where handlers run only in drains, no later round finds what one has left. Never rejects. */
  async lookDrained(): Promise<void> {
    if (await this.#count()) this.#noteMissing(this.#missing);
  }

  #wait(): void {
    if (this.#stopped) return;
    const { options } = this.#deps;
    this.#timer = options.clock.setTimer(() => {
      this.#noteCrashLoops();
      if (options.role !== "work") this.#noteSilence();
      // A store that hangs must not end the rounds.
      if (!this.#isCounting) void this.#lookAtStore();
      this.#wait();
    }, ROUND_MS);
  }

  async #lookAtStore(): Promise<void> {
    const { path, counter } = this.#deps;
    this.#isCounting = true;
    if (await this.#count()) {
      const { figures } = counter;
      this.#noteFigures(figures);
      if (path.dispatcher.ownership.isOwner) this.#noteMissing(this.#missingTwice());
      await this.#noteParked(figures.parked);
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

  /** Takes what a count shows, 0 where there is no problem: it is reported when the count grows, and after a while. */
  #note(alarm: Alarm, count: number, againMs = REMIND_MS): void {
    if (this.#stopped) return;
    const { path, options } = this.#deps;
    const { kind } = alarm;
    const now = options.clock.now();
    const last = this.#reported.get(kind);
    if (count === 0) {
      if (this.#reported.delete(kind)) path.report.alarms.end(kind);
      return;
    }
    if (last !== undefined && count <= last.count) {
      last.count = count;
      // A time in the future is from a clock that has since been set back.
      if (now >= last.at && now - last.at < againMs) return;
    }
    this.#reported.set(kind, { count, at: now });
    path.report.alarms.raise(alarm);
  }

  #noteCrashLoops(): void {
    const { crashLoops } = this.#deps.record;
    this.#note({ kind: "crash_loop", parked: crashLoops }, crashLoops, Infinity);
  }

  #noteSilence(): void {
    const { options, path } = this.#deps;
    const { clock, silenceAfterMs = Infinity } = options;
    const sinceMs = elapsedBy(clock) - Math.max(this.#startedBy, path.report.answers.lastAcceptedBy);
    this.#note({ kind: "silence", sinceMs }, Number(sinceMs >= silenceAfterMs), silenceAfterMs);
  }

  #noteFigures(figures: StoreFigures): void {
    const { backlogAfterMs } = this.#deps.options;
    const { dead, lagMs, outbox, repair } = figures;
    this.#note({ kind: "work_dead", dead }, dead);
    this.#note({ kind: "contact_events_dead", dead: outbox.dead }, outbox.dead);
    const isLate = (forMs: number): number => Number(forMs > backlogAfterMs);
    this.#note({ kind: "backlog", forMs: lagMs, pending: openIn(figures) }, isLate(lagMs), backlogAfterMs);
    const stuck = { forMs: outbox.oldestAgeMs, pending: openIn(outbox) };
    this.#note({ kind: "contact_events_stuck", ...stuck }, isLate(stuck.forMs), backlogAfterMs);
    if (repair === undefined) return;
    const { at, ...round } = repair;
    // Each round that misses some is news.
    this.#note({ kind: "events_missed", ...round }, round.missing > 0 || round.refused !== null ? at : 0, Infinity);
  }

  /** With the reason of the newest events, which is usually that of all. */
  async #noteParked(parked: number): Promise<void> {
    // A store that fails is reported elsewhere.
    const newest =
      parked === 0 ? undefined : await this.#deps.operator.listEvents(NEWEST_PARKED).catch(() => undefined);
    const events = newest?.items ?? [];
    const [reason] = events.flatMap(reasonsOf);
    // Without one, the next round reports it.
    if (parked > 0 && reason === undefined) return;
    const types = new Set(events.filter((event) => reasonsOf(event).includes(reason ?? "")).map(({ type }) => type));
    // What is not JSON has none.
    types.delete("");
    this.#note({ kind: "work_parked", reason: reason ?? "", types: [...types], parked }, parked);
  }

  #noteMissing(missing: Readonly<Record<string, number>>): void {
    const handlers = Object.keys(missing);
    const pending = Object.values(missing).reduce((sum, count) => sum + count, 0);
    this.#note({ kind: "handler_missing", handlers, pending }, handlers.length);
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
