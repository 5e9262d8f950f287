import { LIMITS } from "../protocol/limits.js";
import type { ReceiverStats } from "./receiver.js";
import type { ReceiverParts } from "./receiver-parts.js";

/**
 * Before the start and after the stop it returns the last figures. Rejects while the receiver runs and its store fails.
 */
export async function readStats({ path, inStore }: ReceiverParts): Promise<ReceiverStats> {
  const { admission, report } = path;
  const { counter } = inStore;
  if (admission.state !== "new" && admission.state !== "stopped") {
    await counter.count().catch((error: unknown) => {
      if (admission.state === "running") throw error;
    });
  }
  return {
    state: admission.state,
    ...counter.figures,
    waitsFor: path.dispatcher.waitsFor,
    answers: report.answers.counts,
    failuresInARow: report.answers.failuresInARow,
    disablesAt: LIMITS.disableAfterFailures,
    lastAcceptedAt: report.answers.lastAcceptedAt,
    waiting: admission.waiting,
  };
}
