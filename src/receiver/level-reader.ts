import { type Clock, waitingClock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { inTime } from "../base/wait.js";
import type { DeliveryWatch } from "./delivery-watch.js";
import type { GaugeReader } from "./gauge-reader.js";
import type { Levels } from "./metrics.js";
import type { ResolvedOptions } from "./options.js";
import type { StoreCounter } from "./store-counter.js";

/** The collection of metrics does not wait for a store that has fallen silent. */
const READ_WITHIN_MS = 2 * SECOND;

export interface LevelReaderDeps {
  options: Pick<ResolvedOptions, "clock" | "role">;
  watch: DeliveryWatch;
  counter: StoreCounter;
  gauges: GaugeReader;
}

/** Reads what the gauges of OpenTelemetry show. */
export class LevelReader {
  readonly #deps: LevelReaderDeps;
  readonly #startedAt: number;

  constructor(deps: LevelReaderDeps) {
    this.#deps = deps;
    this.#startedAt = deps.options.clock.now();
  }

  /** Never rejects. */
  async read(): Promise<Levels> {
    const { gauges } = this.#deps;
    await inTime(gauges.read({ isBusy: true }), waitingClock, READ_WITHIN_MS);
    return { ...this.#storeLevels, ...this.#endpointLevels };
  }

  get #storeLevels(): Omit<Levels, "failuresInARow" | "silenceSeconds"> {
    const { counter } = this.#deps;
    const { gauges } = this.#deps.gauges;
    // Undefined too when the last count is too old to say anything.
    const figures = gauges === undefined ? undefined : counter.figures;
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
    };
  }

  /** A process that takes no deliveries says nothing about them. */
  get #endpointLevels(): Pick<Levels, "failuresInARow" | "silenceSeconds"> {
    const { options, watch } = this.#deps;
    if (options.role === "work") return { failuresInARow: undefined, silenceSeconds: undefined };
    const sinceMs = ageBy(options.clock, watch.lastAcceptedAt ?? this.#startedAt);
    return { failuresInARow: watch.failuresInARow, silenceSeconds: toSeconds(sinceMs) };
  }
}

function ageBy(clock: Clock, time: number): number {
  return Math.max(0, clock.now() - time);
}

function toSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / SECOND;
}
