import { escapeControls } from "../base/text.js";
import { PigeonholeError } from "../base/error.js";
import { wholeNumber } from "../base/options.js";
import type { GateName } from "./figures.js";
import type { EventState, WorkState } from "./state-words.js";

/** One handler's part of an event: plain JSON, as everything shows it. */
export interface HandlerView {
  /** Handler name; empty (`NOTE_HANDLER`) for the note of an event that was not understood. */
  handler: string;
  /** State of this handler's work. */
  state: WorkState;
  /**
   * `attempts_spent`, `do_not_retry`, `commit_async`, `crash_loop`, `superseded`, …; null where the state needs none.
   */
  reason: string | null;
  /**
   * The last error, such as `Error: no answer`, with its code, the errors inside of it and the first cause that has a
   * code, where its message lacks them; or the issues of the schema. Null when no run has failed, and once the work is
   * done; of superseded work, which event is newer.
   */
  error: string | null;
  /** Runs started or about to, those included whose process died; 0 before the first. */
  attempts: number;
  /**
   * `maxAttempts` of the handler's retry policy when its receiver last started; null when that is not known, and after
   * a wait, which spends no attempt.
   * `attempts` can be higher, since a run does not count against it that ended with its process, or by a stop.
   */
  maxAttempts: number | null;
  /**
   * When the work is due, not before the end of a wait that holds its handler, ISO 8601; null unless it is pending or
   * retrying, and no process keeps it.
   */
  dueAt: string | null;
  /** When the work became done, discarded, dead or parked, ISO 8601; null before. */
  settledAt: string | null;
  /**
   * When a retry of an event that was not understood was requested, ISO 8601; null when none was, or once the receiver
   * has read the event again.
   */
  retryRequestedAt: string | null;
  /**
   * The gate that keeps the next work of the handler from its begin: the handler is `paused`, its `concurrency` is
   * used, other work of the same `key` runs, … as in `receiver.stats().waitsFor`. As its process said last, at most
   * 10 s ago. Two are known at once: `key` where another process has it, and `retry_after`: its last run asked to wait
   * until `dueAt`, with `error`, or another run that the handler waits. Null when none is known to.
   */
  waitsFor: GateName | null;
}

/** The same with what only one event has, and no list. */
export interface HandlerDetail extends HandlerView {
  /**
   * Errors in full, also once the work is done. Null when no run that `attempts` counts has failed, and when the body
   * was dropped by retention or erased.
   */
  failed: FailedRuns | null;
  /**
   * Finished steps, without their values, oldest first, and when each was kept, ISO 8601. Empty before the first one,
   * and once the body is dropped.
   */
  steps: { name: string; at: string }[];
}

/** A run of a handler that failed. */
export interface FailedRun {
  /** Number of the run, as {@link HandlerView.attempts} counts. */
  attempt: number;
  /** What it threw, in full: name, message, frames, and the same of its causes; at most 8,000 characters. */
  stack: string;
  /** When it ended, ISO 8601. */
  at: string;
}

/** The first and the last run of a handler that failed; the same run if it was one. */
export interface FailedRuns {
  /** The first of them; its error is often the cause of the later ones. */
  first: FailedRun;
  /** The last of them so far. */
  last: FailedRun;
}

/** An event and what its handlers made of it: plain JSON, as everything shows it. */
export interface EventView {
  /** The event's id; after the name of its source and a slash where the option `secrets` has names. */
  id: string;
  /** Name of the source whose secret signed it; empty without names. */
  source: string;
  /** Event type, such as `email.bounced`; empty for a body in which none was found. See docs/service.md#event-types. */
  type: string;
  /** True for the service's synthetic test delivery; see docs/service.md#test-deliveries. */
  test: boolean;
  /** When the whole body was received, ISO 8601. */
  receivedAt: string;
  /** The signed time, ISO 8601; see docs/service.md#signature. */
  signedAt: string;
  /** The most urgent among its handlers: parked, dead, running, retrying, pending, done, discarded. */
  state: EventState;
  /** One entry per handler that got the event; empty when none matched. */
  handlers: HandlerView[];
}

/** An event with the errors and the steps of its handlers. */
export interface EventWithRuns extends EventView {
  /** One entry per handler that got the event, with errors in full and steps. */
  handlers: HandlerDetail[];
}

/** The same with its bytes. */
export interface EventDetail extends EventWithRuns {
  /** Place in the order of acceptance. */
  seq: number;
  /** Exact received bytes; null once retention has dropped them or they were erased. */
  body: Uint8Array | null;
}

/** Where an event was looked for. */
interface LookedFor {
  id: string;
  place: string;
  /** Ids of events from named sources that have this id of the service. @default [] */
  sameIds?: readonly string[];
}

/** The event of this id, if it was found in `place`; throws `not_found` otherwise. */
export function foundEvent(event: EventDetail | undefined, { id, place, sameIds = [] }: LookedFor): EventDetail {
  if (event !== undefined) return event;
  const whole = sameIds.map((same) => `"${escapeControls(same)}"`).join(" or ");
  const hint = whole === "" ? "" : ` Named sources have it: give the whole id, ${whole}.`;
  throw new PigeonholeError("not_found", `No event with id "${escapeControls(id)}" is in ${place}.${hint}`);
}

/** The bytes of an event; throws `body_dropped` if retention has dropped them or they were erased. */
export function bodyOf({ id, body }: EventDetail): Uint8Array {
  if (body !== null) return body;
  throw new PigeonholeError(
    "body_dropped",
    `The body of event "${escapeControls(id)}" was dropped by retention or erased; only its id and the state of its handlers are left.`,
  );
}

/** How many rows a page of a list may have. */
export const PAGE_LIMIT = { min: 1, max: 500, default: 50 };

/** The option `limit` of a list: the most rows of a page. */
export const pageLimit = wholeNumber(PAGE_LIMIT);

/** Which work of events: what fits each field that is given. */
export interface WorkChoice {
  /** Name of the handler. */
  handler?: string | undefined;
  /** Type of the event. */
  type?: string | undefined;
  /** Name of the source whose secret signed the event; empty for events without one. */
  source?: string | undefined;
  /** Text in the reason or last error of the work, in any case; in lists, discarded work only with that state. */
  error?: string | undefined;
  /** Only events received then or later, in milliseconds since 1970. */
  since?: number | undefined;
  /** Only events received before, in milliseconds since 1970. */
  until?: number | undefined;
  /** Only events with one of these ids, at most 500. */
  ids?: readonly string[] | undefined;
  /** Id of a group of errors; its handler and its type are part of it. */
  errorGroup?: string | undefined;
}

/**
 * Which stored events a list has. With `state`, `handler`, `error` or `errorGroup`: those with a piece of work that
 * fits them all.
 */
export interface EventQuery extends WorkChoice {
  /** Only events that have work in this state, or with `unhandled` none. */
  state?: EventState | undefined;
  /** Most events of a page. @default 50 */
  limit?: number | undefined;
  /** `nextCursor` of the page before. */
  cursor?: string | null | undefined;
}

/** A page of a list of stored events, newest first. */
export interface EventPage {
  /** The events, newest first; empty when none match. */
  items: EventView[];
  /** Pass it back as `cursor` for the next page; null on the last one. */
  nextCursor: string | null;
}

/** How many pieces of work of a store are in each state. */
export interface StoreCounts {
  /** Work that waits for its first run, or for the time that its last run asked for. */
  pending: number;
  /** Work whose handler has failed, and that runs again. */
  retrying: number;
  /** Work whose handler runs, or that waits in a process for a free place. */
  running: number;
  /** Work whose handler gave up, as far as it was neither retried nor discarded. */
  dead: number;
  /** Work that cannot run: its event was not understood, or its process died in it four times. */
  parked: number;
  /** Handler runs settled as done since the database was created. */
  done: number;
  /** When the oldest event with work that waits or runs was received, ISO 8601; null without. */
  oldestOpenReceivedAt: string | null;
  /** When the work that is due longest became due, ISO 8601; null when none is. That of paused handlers is left out. */
  oldestDueAt: string | null;
  /** When the newest event was received, ISO 8601; null without one. */
  newestReceivedAt: string | null;
  /** Pending and retrying work by handler name; shows what waits for a handler that is not registered. */
  pendingByHandler: Record<string, number>;
}
