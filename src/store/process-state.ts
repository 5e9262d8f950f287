import { MINUTE } from "../base/duration.js";
import { JOINED } from "./figure-rows.js";
import type { ReportedStatus, ProcessStatus } from "./figures.js";

/** A process reports at least once a minute. */
export const LIVES_MS = 2 * MINUTE;

/** Whether a status is that of all processes together that have stopped, and none of a process. */
export function isEnded({ process }: Pick<ReportedStatus, "process">): boolean {
  return process === JOINED;
}

/** Whether a process still reports. */
export function isAlive({ reportedAt }: Pick<ReportedStatus, "reportedAt">, now: number): boolean {
  return now - reportedAt < LIVES_MS;
}

/** From the least to the most serious, as far as they are of a process that lives. */
const STATES = ["running", "new", "starting", "stopping", "stopped"];

/** The most serious state of processes; `stopped` without any. */
export function worstState(alive: readonly Pick<ReportedStatus, "state">[]): string {
  if (alive.length === 0) return "stopped";
  return alive.reduce(
    (worst, { state }) => (STATES.indexOf(state) > STATES.indexOf(worst) ? state : worst),
    STATES[0] ?? "",
  );
}

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
