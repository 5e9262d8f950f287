import { waitingClock } from "../base/clock.js";
import { MINUTE, SECOND } from "../base/duration.js";
import { inTime } from "../base/wait.js";
import { isPigeonholeError } from "../base/error.js";
import { errorFields } from "../base/error-fields.js";
import type { LifecycleSteps } from "./lifecycle.js";
import { readLevels } from "./stats.js";
import { loadTelemetry } from "./telemetry.js";
import type { ReceiverParts } from "./receiver-parts.js";

/** At the end, times and counts are noted within this time; a server may have fallen silent. */
const NOTED_WITHIN_MS = 5 * SECOND;

/** How the parts are started, one after the other, and stopped again. */
export function lifecycleSteps(parts: ReceiverParts): LifecycleSteps {
  const { options, path, inStore, watches, sender } = parts;
  const { clock, logger } = options;
  const runsHandlers = options.role !== "accept";
  return {
    start: [
      () => {
        watches.startError = undefined;
        path.registry.freeze();
      },
      (stopAsked) => Promise.race([path.verification.secrets.load(), stopAsked]),
      async () => {
        if (!options.telemetry) return;
        path.telemetry = await loadTelemetry(() => readLevels(parts));
        if (sender !== undefined) sender.observer = path.telemetry;
      },
      () =>
        inStore.ownership.open({ logger, clock, runsHandlers, onAlarm: (alarm) => path.report.alarms.raise(alarm) }),
      () => path.report.clockWatch.start(),
      async () => {
        if (!runsHandlers) return;
        await path.dispatcher.start(path.telemetry);
        inStore.pruner.start();
      },
      () => inStore.figures.start(),
      () => watches.work.start(),
      () => watches.repairer?.start(),
      // Not awaited: a long backlog takes seconds to count, and deliveries do not wait for what is only shown.
      () => void lookAtStore(parts),
    ],
    release: (cause) => {
      watches.startError = cause;
      path.telemetry?.stop();
      return inStore.ownership.close();
    },
    stop: (timeoutMs) => stopAll(parts, timeoutMs),
  };
}

async function stopAll(parts: ReceiverParts, timeoutMs: number): Promise<void> {
  const { path, inStore, watches, drainer, sender } = parts;
  // A process that has closed its listener must run until all is settled, and the clock's timers do not keep it alive.
  const keepAlive = setInterval(() => undefined, MINUTE);
  inStore.pruner.stop();
  const repaired = watches.repairer?.stop();
  path.telemetry?.stop();
  try {
    await drainer.stop();
    watches.work.stop();
    await Promise.all([path.dispatcher.stop(timeoutMs), path.admission.untilNoneWaits(timeoutMs)]);
    const written = inStore.figures.stop();
    await sender?.stop();
    const noted = path.report.clockWatch.stop().then(() => inStore.counter.count());
    await inTime(Promise.allSettled([noted, written, repaired]), waitingClock, NOTED_WITHIN_MS);
  } finally {
    await inStore.ownership.close().finally(() => clearInterval(keepAlive));
  }
}

/**
 * What was accepted before the start says how long the endpoint has been silent. Warns of work that waits for a renamed
 * or removed handler. Never rejects.
 */
async function lookAtStore({ options, path }: ReceiverParts): Promise<void> {
  const { store, clock, logger } = options;
  try {
    const { pendingByHandler, newestReceivedAt } = (await store.overview(clock.now())).events;
    if (newestReceivedAt !== undefined) path.report.answers.lastAcceptedAt ??= newestReceivedAt;
    const names = new Set(path.registry.all.map(({ name }) => name));
    for (const [handler, pending] of Object.entries(pendingByHandler)) {
      if (!names.has(handler)) logger.warn({ handler, pending }, "work_waits_for_a_handler_that_is_not_registered");
    }
  } catch (error) {
    if (isPigeonholeError(error, "stopped")) return;
    logger.error(errorFields(error, true), "counts_failed");
  }
}
