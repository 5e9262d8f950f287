/* Without node: imports, since the page uses it too. */

/** What became of an event for a handler, or of a contact event: the states that every surface shows and takes. */
export const STATE_WORDS = {
  pending: "Waits for its first run, or for the time that its last run asked for.",
  running: "Runs, or is about to.",
  retrying: "Has failed, and runs again.",
  done: "Finished.",
  discarded: "Ended without a run.",
  dead: "Given up: attempts spent, or a permanent error.",
  parked: "Kept, but not understood, or processes died in it.",
  unhandled: "Kept; no handler takes such an event.",
} as const;

/** The state of an event. */
export type EventState = keyof typeof STATE_WORDS;

/** The state of a piece of work: an event for a handler. */
export type WorkState = Exclude<EventState, "unhandled">;

export const EVENT_STATES = Object.keys(STATE_WORDS) as readonly EventState[];

/** A contact event is valid when recorded, and so never parked. */
export const CONTACT_EVENT_STATES = ["pending", "running", "retrying", "done", "discarded", "dead"] as const;
export type ContactEventState = (typeof CONTACT_EVENT_STATES)[number];

/** States of work that has failed, as groups of errors count them. */
export const FAILED_STATES = ["pending", "retrying", "running", "dead", "parked"] as const;
export type FailedState = (typeof FAILED_STATES)[number];

/** Whether it waits for a run, or for its call. */
export const isWaiting = (state: string): boolean => state === "pending" || state === "retrying";

/** Whether it waits or runs. */
export const isOpen = (state: string): boolean => isWaiting(state) || state === "running";

/** Whether no work of it is left. */
export const hasEnded = (state: string): boolean => state === "done" || state === "discarded" || state === "unhandled";

/** What is wrong comes before what is under way. */
const URGENCY: readonly WorkState[] = ["parked", "dead", "running", "retrying", "pending", "done", "discarded"];

/** The state of an event: the most urgent of its work. */
export function stateOfEvent(handlers: readonly { state: WorkState }[]): EventState {
  return URGENCY.find((candidate) => handlers.some(({ state }) => state === candidate)) ?? "unhandled";
}

const IS_RETRYING = "w.error IS NOT NULL AND w.started > 0 AND w.wait_holds IS NULL";

/** When a row of `inbox_work AS w` is in a state. */
export const IS_WORK: Readonly<Record<WorkState, string>> = {
  pending: `w.state = 'pending' AND NOT (${IS_RETRYING})`,
  running: "w.state = 'leased'",
  retrying: `w.state = 'pending' AND ${IS_RETRYING}`,
  done: "w.state = 'done' AND NOT w.discarded",
  discarded: "w.state = 'done' AND w.discarded",
  dead: "w.state = 'dead'",
  parked: "w.state = 'parked'",
};

/** The state of such a row. */
export const WORK_STATE = `CASE ${Object.entries(IS_WORK)
  .map(([state, condition]) => `WHEN ${condition} THEN '${state}'`)
  .join(" ")} END`;

/** The same of a row that has `failed_at`, by columns of its index alone: it has an error and a run. */
export const FAILED_WORK_STATE = `CASE w.state WHEN 'leased' THEN 'running'
  WHEN 'pending' THEN CASE WHEN w.wait_holds IS NULL THEN 'retrying' ELSE 'pending' END ELSE w.state END`;
