import type { ProcessStatus } from "./figures.js";

type AnswersInARow = Pick<ProcessStatus, "failuresInARow" | "failureTimes" | "lastSuccessAt" | "lastAcceptedAt">;

/**
 * Failures in a row as the service counts them, which sends deliveries to all processes in turn: those after the last
 * success of any. Takes processes that live and those that have ended. What a process answered since it last reported
 * is not counted.
 */
export function failuresInARow(statuses: readonly AnswersInARow[]): number {
  return statuses.reduce((sum, status) => {
    const { failuresInARow: count, failureTimes } = status;
    const left = timesLeft(status, statuses).length;
    // Those without a time are older than the ones that have one.
    return sum + (left === failureTimes.length ? count : left);
  }, 0);
}

/** When those failures were, as far as their times are kept; in no order. */
export function failuresLeft(statuses: readonly AnswersInARow[]): number[] {
  return statuses.flatMap((status) => timesLeft(status, statuses));
}

/** Each success of a process itself has ended its row. */
function timesLeft(status: AnswersInARow, statuses: readonly AnswersInARow[]): number[] {
  const success = Math.max(0, ...statuses.filter((each) => each !== status).map(lastSuccess));
  return status.failureTimes.filter((at) => at > success);
}

function lastSuccess({ lastSuccessAt = 0, lastAcceptedAt = 0 }: AnswersInARow): number {
  return Math.max(lastSuccessAt, lastAcceptedAt);
}
