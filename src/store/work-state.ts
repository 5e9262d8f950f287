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
 *   event. Also work that a person discarded, or that {@link Store.beginNewest} ended as superseded.
 * - `dead`: the handler failed permanently; {@link Store.replan} (retry) or {@link InboxOperator.changeEvent} moves it
 *   on.
 * - `parked`: not understood, or it killed the process; `replan` or `discard` moves it on.
 *
 * People see the words of `state-words.ts`.
 */
export type StoredWorkState = "pending" | "leased" | "done" | "dead" | "parked";

/** A process that the others do not see loses its work to them after this; one that lives has ended its runs. */
export const TAKEN_OVER_AFTER_MS = 15 * SECOND;

/**
 * Runs that started and never finished, after which an event is parked instead of tried again. In the last two of them
 * it ran alone: one crash may come from a process that was ended from outside, two in a row hardly do.
 */
export const CRASH_LIMIT = 4;
