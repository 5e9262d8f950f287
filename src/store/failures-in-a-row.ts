import type { ProcessStatus } from "./figures.js";

type AnswersInARow = Pick<ProcessStatus, "failuresInARow" | "failureTimes" | "lastSuccessAt" | "lastAcceptedAt">;

/**
 * Failures in a row as the service counts them, which sends deliveries to all processes in turn: those after the last
 * success of any. Takes processes that live and those that have ended. What a process answered since it last reported
 * is not counted.
 */
export function failuresInARow(statuses: readonly AnswersInARow[]): number {
  return statuses.reduce((sum, status) => {
    const successes = statuses.filter((each) => each !== status).map(lastSuccess);
    return sum + failuresSince(status, Math.max(0, ...successes));
  }, 0);
}

/** Each success of a process itself has ended its row. */
function failuresSince({ failuresInARow: count, failureTimes }: AnswersInARow, time: number): number {
  const since = failureTimes.filter((at) => at > time).length;
  // Those without a time are older than the ones that have one.
  return since === failureTimes.length ? count : since;
}

function lastSuccess({ lastSuccessAt = 0, lastAcceptedAt = 0 }: AnswersInARow): number {
  return Math.max(lastSuccessAt, lastAcceptedAt);
}
