import { waitingClock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { inTime } from "../base/wait.js";
import { endpointHealth } from "../operator/figures-now.js";
import type { Levels } from "./metrics.js";
import type { ReceiverStats } from "./receiver.js";
import type { ReceiverParts } from "./receiver-parts.js";

/** The collection of metrics does not wait for a store that has fallen silent. */
const LEVELS_WITHIN_MS = 2 * SECOND;

/**
 * Before the start and after the stop it returns the last figures. Rejects while the receiver runs and its store fails.
 */
export async function readStats({ options, path, inStore }: ReceiverParts): Promise<ReceiverStats> {
  const { admission, report } = path;
  const { counter } = inStore;
  if (admission.state !== "new" && admission.state !== "stopped") {
    await counter.count().catch((error: unknown) => {
      if (admission.state === "running") throw error;
    });
  }
  const { failuresInARow, lastAcceptedAt } = report.answers;
  const { clock, silenceAfterMs } = options;
  return {
    state: admission.state,
    ...counter.figures,
    waitsFor: path.dispatcher.waitsFor,
    answers: report.answers.counts,
    endpoint: endpointHealth(
      { failuresInARow, lastAcceptedAt, silenceAfterMs: silenceAfterMs === undefined ? [] : [silenceAfterMs] },
      clock.now(),
    ),
    waiting: admission.waiting,
  };
}

/** What the gauges of OpenTelemetry show. Never rejects. */
export async function readLevels({ options, path, inStore }: ReceiverParts): Promise<Levels> {
  const { counter } = inStore;
  const { answers } = path.report;
  await inTime(counter.readGauges({ isBusy: true }), waitingClock, LEVELS_WITHIN_MS);
  const { gauges } = counter;
  // Undefined too when the last count is too old to say anything.
  const figures = gauges === undefined ? undefined : counter.figures;
  // A process that takes no deliveries says nothing about them.
  const takesDeliveries = options.role !== "work";
  const acceptedAt = answers.lastAcceptedAt ?? inStore.figures.status.startedAt;
  const silentMs = Math.max(0, options.clock.now() - acceptedAt);
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
    failuresInARow: takesDeliveries ? answers.failuresInARow : undefined,
    silenceSeconds: takesDeliveries ? toSeconds(silentMs) : undefined,
  };
}

function toSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / SECOND;
}
