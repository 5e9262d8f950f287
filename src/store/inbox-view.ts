import { escapeControls } from "../base/escape-controls.js";
import { PigeonholeError } from "../base/error.js";
import { wholeNumber } from "../base/options.js";
import type { OutboxState } from "./outbox.js";
import type { WorkState } from "./work-state.js";

/** One handler's part of an event. */
export interface HandlerView {
  /** Handler name; empty (`NOTE_HANDLER`) for the note of an event that was not understood. */
  handler: string;
  state: WorkState;
  /**
   * `attempts_spent`, `do_not_retry`, `commit_async`, `crash_loop`, `unknown_type`, …; undefined where the state needs
   * none. `other_bytes`, for ended work: the handler has another body of the same id, see {@link EventView.otherBytes}.
   */
  reason: string | undefined;
  /** Message of the last error, or the validation issues. */
  error: string | undefined;
  /** Runs started. */
  attempts: number;
  dueAt: number | undefined;
  settledAt: number | undefined;
  /** When a retry was requested of the note of an event; the receiver has not read the event again since. */
  retryRequestedAt: number | undefined;
  /** True when the work was ended without a run: by `discard`, or because the handler has other bytes of the id. */
  discarded: boolean;
}

/** An event as the inbox lists it. */
export interface EventView {
  /** The event's id; for a body kept in addition to the first one of its id, that id, `#` and a digest of the body. */
  id: string;
  type: string;
  test: boolean;
  receivedAt: number;
  signedAt: number;
  /** The most urgent state among its handlers: parked, dead, leased, pending, done (also when no handler matched). */
  state: WorkState;
  handlers: HandlerView[];
  /** Ids, as listed, of the other bodies received under the id; each handler takes effect with one of them at most. */
  otherBytes: readonly string[];
}

/** An event with its bytes. */
export interface EventDetail extends EventView {
  seq: number;
  /** Exact received bytes; undefined once retention has dropped them or they were erased. */
  body: Uint8Array | undefined;
}

/** The event of this id, if it was found in `place`; throws `not_found` otherwise. */
export function foundEvent(event: EventDetail | undefined, id: string, place: string): EventDetail {
  if (event !== undefined) return event;
  throw new PigeonholeError("not_found", `No event with id "${escapeControls(id)}" is in ${place}.`);
}

/** The bytes of an event; throws `body_dropped` if retention has dropped them or they were erased. */
export function bodyOf({ id, body }: EventDetail): Uint8Array {
  if (body !== undefined) return body;
  throw new PigeonholeError(
    "body_dropped",
    `The body of event "${escapeControls(id)}" was dropped by retention or erased; only its id and the state of its handlers are left.`,
  );
}

/** The option `limit` of a list: the most rows of a page. */
export const pageLimit = wholeNumber({ min: 1, max: 500, default: 50 });

/** Which stored events a list has. */
export interface EventQuery {
  /** Only events that have work in this state. `done`: with a done mark. */
  state?: WorkState | undefined;
  /** Only events of this type. */
  type?: string | undefined;
  /** Most events of a page. @default 50 */
  limit?: number | undefined;
  /** `nextCursor` of the page before. */
  cursor?: string | undefined;
}

/** A page of a list of stored events, newest first. */
export interface EventPage {
  items: EventView[];
  /** Undefined on the last page. */
  nextCursor: string | undefined;
}

/** How many pieces of work of a store are in each state. */
export interface StoreCounts {
  pending: number;
  leased: number;
  dead: number;
  parked: number;
  /** Handler runs settled as done since the database was created. */
  done: number;
  /** When the oldest event with pending work was received. */
  oldestPendingReceivedAt: number | undefined;
  /** When the oldest event with leased work was received: a handler runs, or it waits in a process for one. */
  oldestLeasedReceivedAt: number | undefined;
  /** When the pending work that is due longest became due. */
  oldestDueAt: number | undefined;
  /** Pending work by handler name; shows what waits for a handler that is not registered. */
  pendingByHandler: Record<string, number>;
}

/** Rows of each list of a receiver's database; an event whose handlers are in several states is in the list of each. */
export interface ListCounts {
  events: Record<WorkState | "all", number>;
  contactEvents: Record<OutboxState | "all", number>;
}
