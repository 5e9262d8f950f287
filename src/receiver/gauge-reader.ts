import { type Clock, elapsedBy } from "../base/clock.js";
import { MINUTE, SECOND } from "../base/duration.js";
import type { DiskUse, Gauges } from "../store/figures.js";
import type { Store } from "../store/store.js";
import type { StoreCounter } from "./store-counter.js";

/** The disk changes slowly. */
const BETWEEN_DISK_READS_MS = MINUTE - SECOND;
/** What was counted longer ago says nothing about now; usually it is counted each minute. */
const MAX_AGE_MS = 3 * MINUTE;

const UNKNOWN: DiskUse = { usedBytes: undefined, freeBytes: undefined };

/** Reads how much there is to do, and how much room. */
export class GaugeReader {
  readonly #deps: { store: Store<unknown>; counter: StoreCounter; clock: Clock };
  #disk = UNKNOWN;
  #diskReadAt = -Infinity;

  constructor(deps: { store: Store<unknown>; counter: StoreCounter; clock: Clock }) {
    this.#deps = deps;
  }

  /** Undefined when the store was not counted of late. `isBusy`: it may have changed since. Never rejects. */
  async read({ isBusy }: { isBusy: boolean }): Promise<Gauges | undefined> {
    // A store that fails is reported elsewhere.
    if (isBusy || this.#hasWork) await this.#deps.counter.countIfCheap().catch(() => undefined);
    await this.#readDisk();
    return this.gauges;
  }

  /** Those that were read last, with the ages of this moment. */
  get gauges(): Gauges | undefined {
    const { counter, clock } = this.#deps;
    const { countedAt, pending, leased, oldestPendingAgeMs, outbox } = counter.figures;
    if (countedAt === undefined || clock.now() - countedAt > MAX_AGE_MS) return undefined;
    return {
      backlog: { depth: pending + leased, oldestAgeMs: oldestPendingAgeMs },
      outbox: { depth: outbox.pending + outbox.leased, oldestAgeMs: outbox.oldestAgeMs },
      disk: this.#disk,
    };
  }

  get #hasWork(): boolean {
    const { pending, leased, outbox } = this.#deps.counter.figures;
    return pending + leased + outbox.pending + outbox.leased > 0;
  }

  async #readDisk(): Promise<void> {
    const { store, clock } = this.#deps;
    if (elapsedBy(clock) - this.#diskReadAt < BETWEEN_DISK_READS_MS) return;
    this.#diskReadAt = elapsedBy(clock);
    this.#disk = await store.readDiskUse().catch(() => UNKNOWN);
  }
}
