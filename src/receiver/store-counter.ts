import { type Clock, elapsedBy } from "../base/clock.js";
import { MINUTE, SECOND } from "../base/duration.js";
import type { Dispatcher } from "../dispatch/dispatcher.js";
import type { DiskUse, Gauges } from "../store/figures.js";
import type { StoreCounts } from "../store/inbox-view.js";
import type { OutboxCounts } from "../store/outbox.js";
import type { RepairRound } from "../store/repair-rounds.js";
import type { PausedHandler } from "../store/paused-handlers.js";
import type { Store } from "../store/store.js";
import type { ReceiverStats } from "./receiver.js";

/** The part of the stats that the store knows. */
export type StoreFigures = Pick<
  ReceiverStats,
  "countedAt" | "oldestPendingAgeMs" | "lagMs" | "outbox" | "paused" | "repair"
> &
  CountsByState;

type CountsByState = Pick<
  StoreCounts,
  "pending" | "retrying" | "running" | "dead" | "parked" | "done" | "pendingByHandler"
>;

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

interface Counted {
  at: number | undefined;
  inbox: StoreCounts;
  outbox: OutboxCounts;
  paused: PausedHandler[];
  repairs: RepairRound[];
}

const NOTHING: Counted = {
  at: undefined,
  inbox: {
    pending: 0,
    retrying: 0,
    running: 0,
    dead: 0,
    parked: 0,
    done: 0,
    oldestPendingReceivedAt: undefined,
    oldestRunningReceivedAt: undefined,
    oldestDueAt: undefined,
    newestReceivedAt: undefined,
    pendingByHandler: {},
  },
  outbox: { pending: 0, running: 0, retrying: 0, dead: 0, oldestRecordedAt: undefined },
  paused: [],
  repairs: [],
};

export interface StoreCounterDeps {
  store: Pick<Store<unknown>, "overview" | "listPaused" | "readDiskUse">;
  dispatcher: Pick<Dispatcher, "waitingSince">;
  clock: Clock;
  /** Of the option `repair`. */
  endpointId?: string | undefined;
}

/** Counts what is in the store, and how much room it takes; keeps the figures for when the store is closed. */
export class StoreCounter {
  readonly #deps: StoreCounterDeps;
  #last: Counted = NOTHING;
  #begunAt = -Infinity;
  #tookMs = 0;
  #disk = UNKNOWN_DISK;
  #diskReadAt = -Infinity;

  constructor(deps: StoreCounterDeps) {
    this.#deps = deps;
  }

  /** Rejects as the store does. */
  async count(): Promise<void> {
    const { store, clock } = this.#deps;
    const at = clock.now();
    this.#begunAt = elapsedBy(clock);
    const [{ events, contactEvents, repairs }, paused] = await Promise.all([store.overview(at), store.listPaused()]);
    this.#last = { at, inbox: events, outbox: contactEvents, paused, repairs };
    this.#tookMs = elapsedBy(clock) - this.#begunAt;
  }

  /** Counts again unless it did a moment ago, or takes over a hundredth of the time. Rejects as the store does. */
  async countIfCheap(): Promise<void> {
    const sinceMs = elapsedBy(this.#deps.clock) - this.#begunAt;
    if (sinceMs >= Math.max(MIN_WAIT_MS, this.#tookMs * 100)) await this.count();
  }

  /** What was counted last, with the ages of this moment. */
  get figures(): StoreFigures {
    const { clock, dispatcher, endpointId } = this.#deps;
    const { at, inbox, outbox, paused, repairs } = this.#last;
    const { oldestPendingReceivedAt, oldestRunningReceivedAt, oldestDueAt, newestReceivedAt: _, ...counts } = inbox;
    const { oldestRecordedAt, ...sends } = outbox;
    const now = clock.now();
    return {
      ...counts,
      paused,
      repair: repairs.find((round) => round.endpointId === endpointId),
      countedAt: at,
      oldestPendingAgeMs: Math.max(ageOf(oldestPendingReceivedAt, now), ageOf(oldestRunningReceivedAt, now)),
      lagMs: Math.max(ageOf(oldestDueAt, now), ageOf(dispatcher.waitingSince, now)),
      outbox: { ...sends, oldestAgeMs: ageOf(oldestRecordedAt, now) },
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
    if (countedAt === undefined || this.#deps.clock.now() - countedAt > MAX_AGE_MS) return undefined;
    return {
      backlog: { depth: openIn(figures), oldestAgeMs: oldestPendingAgeMs },
      outbox: { depth: openIn(outbox), oldestAgeMs: outbox.oldestAgeMs },
      disk: this.#disk,
    };
  }
}

function ageOf(time: number | undefined, now: number): number {
  return time === undefined ? 0 : Math.max(0, now - time);
}
