import { MINUTE } from "../base/duration.js";
import { JOINED } from "./figure-rows.js";
import type { ReportedStatus } from "./figures.js";

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
