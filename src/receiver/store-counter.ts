import { type Clock, elapsedBy } from "../base/clock.js";
import { MINUTE, SECOND } from "../base/duration.js";
import { isoTime } from "../base/iso-time.js";
import type { Dispatcher } from "../dispatch/dispatcher.js";
import { type StoreFigures, storeFigures } from "../operator/figures-now.js";
import type { DiskUse, Gauges } from "../store/figures.js";
import type { InboxOperator, StoreOverview } from "../store/inbox-operator.js";
import type { StoreCounts } from "../store/inbox-view.js";
import type { RepairRound } from "../store/repair-rounds.js";
import type { PausedHandler } from "../store/paused-handlers.js";
import { NO_WORK } from "../store/queries/counts.js";
import type { Store } from "../store/store.js";

/** The part of the stats that the store knows. */
export interface CountedFigures extends StoreFigures {
  /** Handlers that a person has paused in all processes of the store, in the order of their names. */
  paused: PausedHandler[];
  /**
   * The last round of the option `repair`, by whichever process has made it; null without the option, and before the
   * first round has ended.
   */
  repair: RepairRound | null;
}

/** How much has not ended yet. */
export function openIn({ pending, retrying, running }: Pick<StoreCounts, "pending" | "retrying" | "running">): number {
  return pending + retrying + running;
}

/** What was counted less long ago is new enough for everything. */
const MIN_WAIT_MS = 5 * SECOND;
/** What was counted longer ago says nothing about now; usually it is counted each minute. */
const MAX_AGE_MS = 3 * MINUTE;
/** The disk changes slowly. */
const BETWEEN_DISK_READS_MS = MINUTE - SECOND;

const UNKNOWN_DISK: DiskUse = { usedBytes: undefined, freeBytes: undefined };

/** What was counted before the first count. */
const NOTHING = {
  at: isoTime(0),
  countedAt: undefined,
  events: NO_WORK,
  contactEvents: { pending: 0, running: 0, retrying: 0, dead: 0, oldestRecordedAt: null },
  paused: [],
  repairs: [],
};

export interface StoreCounterDeps {
  store: Pick<Store<unknown>, "listPaused" | "readDiskUse">;
  operator: Pick<InboxOperator, "overview">;
  dispatcher: Pick<Dispatcher, "waitingSince">;
  clock: Clock;
  /** Of the option `repair`. */
  endpointId?: string | undefined;
}

/** Counts what is in the store, and how much room it takes; keeps the figures for when the store is closed. */
export class StoreCounter {
  readonly #deps: StoreCounterDeps;
  #last: StoreOverview & { countedAt: number | undefined; paused: PausedHandler[] } = NOTHING;
  #begunAt = -Infinity;
  /** When the count began that is kept: a slow one from before does not replace it. */
  #keptSince = -Infinity;
  #tookMs = 0;
  #disk = UNKNOWN_DISK;
  #diskReadAt = -Infinity;

  constructor(deps: StoreCounterDeps) {
    this.#deps = deps;
  }

  /** Rejects as the store does. */
  async count(): Promise<void> {
    const { store, operator, clock } = this.#deps;
    const countedAt = clock.now();
    const begunAt = (this.#begunAt = elapsedBy(clock));
    try {
      const [overview, paused] = await Promise.all([operator.overview(), store.listPaused()]);
      if (begunAt >= this.#keptSince) this.#last = { ...overview, countedAt, paused };
      this.#keptSince = Math.max(begunAt, this.#keptSince);
    } finally {
      this.#tookMs = elapsedBy(clock) - this.#begunAt;
    }
  }

  /** Counts again unless it did a moment ago, or takes over a hundredth of the time. Rejects as the store does. */
  async countIfCheap(): Promise<void> {
    const sinceMs = elapsedBy(this.#deps.clock) - this.#begunAt;
    if (sinceMs >= Math.max(MIN_WAIT_MS, this.#tookMs * 100)) await this.count();
  }

  /** When the newest event was stored, by the clock of this process; undefined where none was counted. */
  get newestReceivedAt(): number | undefined {
    const { at, countedAt, events } = this.#last;
    if (events.newestReceivedAt === null) return undefined;
    return Date.parse(events.newestReceivedAt) + (countedAt === undefined ? 0 : countedAt - Date.parse(at));
  }

  /** What was counted last, with the ages of this moment. */
  get figures(): CountedFigures {
    const { clock, dispatcher, endpointId } = this.#deps;
    const { countedAt, paused, repairs, ...overview } = this.#last;
    const now = clock.now();
    const stored = storeFigures(overview, Date.parse(overview.at) + now - (countedAt ?? 0));
    return {
      ...stored,
      countedAt: isoTime(countedAt),
      lagMs: Math.max(stored.lagMs, now - (dispatcher.waitingSince ?? now)),
      paused,
      repair: repairs.find((round) => round.endpointId === endpointId) ?? null,
    };
  }

  /** Counts again if anything may have changed, and resolves with the gauges. Never rejects. */
  async readGauges({ isBusy }: { isBusy: boolean }): Promise<Gauges | undefined> {
    const { figures } = this;
    const hasWork = openIn(figures) + openIn(figures.outbox) > 0;
    // A store that fails is reported elsewhere.
    if (isBusy || hasWork) await this.countIfCheap().catch(() => undefined);
    const { store, clock } = this.#deps;
    if (elapsedBy(clock) - this.#diskReadAt >= BETWEEN_DISK_READS_MS) {
      this.#diskReadAt = elapsedBy(clock);
      this.#disk = await store.readDiskUse().catch(() => UNKNOWN_DISK);
    }
    return this.gauges;
  }

  /** Those that were read last, with the ages of this moment; undefined when the store was not counted of late. */
  get gauges(): Gauges | undefined {
    const { figures } = this;
    const { countedAt, oldestPendingAgeMs, outbox } = figures;
    if (countedAt === null || this.#deps.clock.now() - Date.parse(countedAt) > MAX_AGE_MS) return undefined;
    return {
      backlog: { depth: openIn(figures), oldestAgeMs: oldestPendingAgeMs },
      outbox: { depth: openIn(outbox), oldestAgeMs: outbox.oldestAgeMs },
      disk: this.#disk,
    };
  }
}
