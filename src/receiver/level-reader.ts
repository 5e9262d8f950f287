import { elapsedBy, waitingClock } from "../base/clock.js";
import { MINUTE, SECOND } from "../base/duration.js";
import { inTime } from "../base/wait.js";
import type { DiskUse, Gauges } from "../store/figures.js";
import type { AnswerWatch } from "./delivery-watch.js";
import type { Levels } from "./metrics.js";
import type { ResolvedOptions } from "./options.js";
import type { StoreCounter } from "./store-counter.js";

/** The disk changes slowly. */
const BETWEEN_DISK_READS_MS = MINUTE - SECOND;
/** What was counted longer ago says nothing about now; usually it is counted each minute. */
const MAX_AGE_MS = 3 * MINUTE;
/** The collection of metrics does not wait for a store that has fallen silent. */
const READ_WITHIN_MS = 2 * SECOND;

const UNKNOWN: DiskUse = { usedBytes: undefined, freeBytes: undefined };

export interface LevelReaderDeps {
  options: Pick<ResolvedOptions, "store" | "clock" | "role">;
  answers: AnswerWatch;
  counter: StoreCounter;
}

/** Reads how much there is to do, and how much room: for the dashboard's figures, and for OpenTelemetry. */
export class LevelReader {
  readonly #deps: LevelReaderDeps;
  readonly #startedAt: number;
  #disk = UNKNOWN;
  #diskReadAt = -Infinity;

  constructor(deps: LevelReaderDeps) {
    this.#deps = deps;
    this.#startedAt = deps.options.clock.now();
  }

  /** Undefined when the store was not counted of late. `isBusy`: it may have changed since. Never rejects. */
  async readGauges({ isBusy }: { isBusy: boolean }): Promise<Gauges | undefined> {
    const { pending, leased, outbox } = this.#deps.counter.figures;
    const hasWork = pending + leased + outbox.pending + outbox.leased > 0;
    // A store that fails is reported elsewhere.
    if (isBusy || hasWork) await this.#deps.counter.countIfCheap().catch(() => undefined);
    await this.#readDisk();
    return this.gauges;
  }

  /** Those that were read last, with the ages of this moment. */
  get gauges(): Gauges | undefined {
    const { counter, options } = this.#deps;
    const { countedAt, pending, leased, oldestPendingAgeMs, outbox } = counter.figures;
    if (countedAt === undefined || options.clock.now() - countedAt > MAX_AGE_MS) return undefined;
    return {
      backlog: { depth: pending + leased, oldestAgeMs: oldestPendingAgeMs },
      outbox: { depth: outbox.pending + outbox.leased, oldestAgeMs: outbox.oldestAgeMs },
      disk: this.#disk,
    };
  }

  /** What the gauges of OpenTelemetry show. Never rejects. */
  async readLevels(): Promise<Levels> {
    await inTime(this.readGauges({ isBusy: true }), waitingClock, READ_WITHIN_MS);
    const { gauges } = this;
    // Undefined too when the last count is too old to say anything.
    const figures = gauges === undefined ? undefined : this.#deps.counter.figures;
    return {
      storeUp: gauges === undefined ? 0 : 1,
      backlogDepth: gauges?.backlog.depth,
      backlogAgeSeconds: toSeconds(gauges?.backlog.oldestAgeMs),
      backlogLagSeconds: toSeconds(figures?.lagMs),
      workDead: figures?.dead,
      workParked: figures?.parked,
      handlersPaused: figures?.paused.length,
      outboxDepth: gauges?.outbox.depth,
      outboxAgeSeconds: toSeconds(gauges?.outbox.oldestAgeMs),
      outboxDead: figures?.outbox.dead,
      diskUsedBytes: gauges?.disk.usedBytes,
      diskFreeBytes: gauges?.disk.freeBytes,
      ...this.#endpointLevels,
    };
  }

  /** A process that takes no deliveries says nothing about them. */
  get #endpointLevels(): Pick<Levels, "failuresInARow" | "silenceSeconds"> {
    const { options, answers } = this.#deps;
    if (options.role === "work") return { failuresInARow: undefined, silenceSeconds: undefined };
    const sinceMs = Math.max(0, options.clock.now() - (answers.lastAcceptedAt ?? this.#startedAt));
    return { failuresInARow: answers.failuresInARow, silenceSeconds: toSeconds(sinceMs) };
  }

  async #readDisk(): Promise<void> {
    const { store, clock } = this.#deps.options;
    if (elapsedBy(clock) - this.#diskReadAt < BETWEEN_DISK_READS_MS) return;
    this.#diskReadAt = elapsedBy(clock);
    this.#disk = await store.readDiskUse().catch(() => UNKNOWN);
  }
}

function toSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / SECOND;
}
