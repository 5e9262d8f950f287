import type { FailedState } from "./state-words.js";

/** Which groups of errors. */
export interface ErrorGroupQuery {
  /** Name of the handler. @default all */
  handler?: string | undefined;
  /** Type of the events. @default all */
  type?: string | undefined;
  /** Only work in this state. @default all */
  state?: FailedState | undefined;
  /** Only work that failed last at this time or later, in milliseconds since 1970. @default all */
  since?: number | undefined;
  /** Only work that failed last before this time, in milliseconds since 1970. @default all */
  until?: number | undefined;
  /** Length of a step of {@link ErrorGroup.steps} in milliseconds, at least a minute. @default 1 hour */
  stepMs?: number | undefined;
  /** Most groups. @default 50 */
  limit?: number | undefined;
  /** `nextCursor` of the page before. @default the first page */
  cursor?: string | null | undefined;
}

/**
 * Unfinished work of one handler with events of one type that failed the same way last. Work that is done, discarded or
 * retried by a person is in no group.
 */
export interface ErrorGroup {
  /** Chooses exactly this work, as `errorGroup` of a choice. Stays the same. */
  id: string;
  /** Name of the handler; empty for events that were not understood. */
  handler: string;
  /** Type of the events; empty for bodies in which none was found. */
  type: string;
  /** Name or code of the error, such as `TypeError` or `unknown_type`. */
  kind: string;
  /** Its message, with `…` in place of numbers, ids, addresses and quoted text. */
  message: string;
  /** Events in the group; each has one piece of work in it. Counts go up to {@link COUNTED_EVENTS}. */
  events: number;
  /** True when there are more events than are counted; then the oldest of them are left out of all numbers here. */
  isCapped: boolean;
  /** Runs of them that failed so far. */
  failures: number;
  /** How many of the events are in which state. */
  states: Record<FailedState, number>;
  /** When the first of the events was received, ISO 8601. */
  firstAt: string;
  /** When one of them failed last, ISO 8601. */
  lastAt: string;
  /** Events by when they failed last, oldest step first, without empty steps. `at`: begin of the step, ISO 8601. */
  steps: { at: string; events: number }[];
  /** The event that failed last, and its error as it was. */
  example: {
    /** Id of the event. */
    id: string;
    state: FailedState;
    error: string | null;
    reason: string | null;
  };
}

/** Groups of errors, those that failed last first. */
export interface ErrorGroupList {
  /** The groups, as many as were asked for at most. */
  items: ErrorGroup[];
  /**
   * Pass it back as `cursor` for the next page; null on the last one. A group that fails again meanwhile is before
   * it, and one whose last failure is gone may come again.
   */
  nextCursor: string | null;
}

/** So many events of a group are counted at most, the newest failures first: a list stays fast whatever has failed. */
export const COUNTED_EVENTS = 50_000;

/** What groups errors in a store. */
export interface ErrorGroups {
  /** The groups that fit the query, those that failed last first. */
  listErrorGroups(query?: ErrorGroupQuery): Promise<ErrorGroupList>;
}
