import type { WorkState } from "./work-state.js";

/** Which groups of errors. */
export interface ErrorGroupQuery {
  /** Name of the handler. @default all */
  handler?: string | undefined;
  /** Type of the events. @default all */
  type?: string | undefined;
  /** Only work in this state. @default all: what waits after a failure, runs again, is dead or parked */
  state?: Exclude<WorkState, "done"> | undefined;
  /** Only work that failed last at this time or later, in milliseconds since 1970. @default all */
  since?: number | undefined;
  /** Only work that failed last before this time, in milliseconds since 1970. @default all */
  until?: number | undefined;
  /** Length of a step of {@link ErrorGroup.steps} in milliseconds. @default 1 hour */
  stepMs?: number | undefined;
  /** Most groups. @default 50 */
  limit?: number | undefined;
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
  states: Record<Exclude<WorkState, "done">, number>;
  /** The first and the last time at which one of them failed last, in milliseconds since 1970. */
  firstAt: number;
  lastAt: number;
  /** Events by when they failed last, oldest step first; steps without one are left out. `at` is the begin of the step. */
  steps: { at: number; events: number }[];
  /** The event that failed last, and its error as it was. */
  example: { id: string; error: string | undefined; reason: string | undefined };
}

/** Groups of errors, those that failed last first. */
export interface ErrorGroupList {
  items: ErrorGroup[];
  /** True when there are more groups than were asked for. */
  hasMore: boolean;
}

/** So many events of a group are counted at most, the newest failures first: a list stays fast whatever has failed. */
export const COUNTED_EVENTS = 50_000;

/** What groups errors in a store. */
export interface ErrorGroups {
  listErrorGroups(query?: ErrorGroupQuery): Promise<ErrorGroupList>;
}
