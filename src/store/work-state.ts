import { SECOND } from "../base/duration.js";

/**
 * The state machine of events and their handlers; contact events in the outbox have the same states without `parked`. A
 * piece of work is one event for one handler.
 *
 * ```
 *            lease                settle
 * pending ──────────▶ leased ──────────────▶ done
 *    ▲                  │ │ ╲──────────────▶ dead     attempts spent, DoNotRetry, or a mistake that no run can avoid
 *    │   retry, release │ ╰────────────────▶ parked   the process died in it four times
 *    ╰──────────────────╯
 * ```
 *
 * - `pending`: waits until `dueAt`, or until {@link InboxOperator.changeWork} makes it due; {@link Store.lease} moves
 *   it on.
 * - `leased`: a dispatcher holds it until `leaseUntil`; {@link Store.settle}, {@link Store.release} or, after a crash,
 *   {@link Store.recover} moves it on.
 * - `done`: final; the mark that keeps a handler from getting the event again. {@link Store.prune} removes it with its
 *   event.
 * - `dead`: the handler failed permanently; {@link Store.replan} (retry) or {@link InboxOperator.changeEvent} moves it
 *   on.
 * - `parked`: not understood, or it killed the process; `replan` or `discard` moves it on.
 */
export const WORK_STATES = ["pending", "leased", "done", "dead", "parked"] as const;

/** The state of a piece of work. */
export type WorkState = (typeof WORK_STATES)[number];

/** The state that is shown for an event is the first of these that one of its handlers is in. */
const URGENCY: readonly WorkState[] = ["parked", "dead", "leased", "pending", "done"];

/** The state of an event by those of its handlers; `done` without any. */
export function mostUrgentState(handlers: readonly { state: WorkState }[]): WorkState {
  return URGENCY.find((candidate) => handlers.some(({ state }) => state === candidate)) ?? "done";
}

/** A process that the others do not see loses its work to them after this; one that lives has ended its runs. */
export const TAKEN_OVER_AFTER_MS = 15 * SECOND;

/**
 * Runs that started and never finished, after which an event is parked instead of tried again. In the last two of them
 * it ran alone: one crash may come from a process that was ended from outside, two in a row hardly do.
 */
export const CRASH_LIMIT = 4;
