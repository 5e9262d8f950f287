/*
 * GET  api/errors?handler=&type=&state=&since=&until=&cursor= → ErrorGroupPage
 */
import type { FailedState } from "../../store/state-words.js";

/** Errors of work that waits for its next run, runs again, is dead or is parked, by what they have in common. */
export interface ErrorGroupPage {
  /** Those that failed last first. */
  items: ErrorGroupRow[];
  /** Cursor of the next page; null on the last one. */
  nextCursor: string | null;
  /** Start of each step of {@link ErrorGroupRow.counts}, in milliseconds since 1970. */
  times: number[];
  /** Length of a step, in milliseconds. */
  stepMs: number;
}

export interface ErrorGroupRow {
  /** Opaque, and the same for everybody; names the group in {@link WorkFilter.errorGroup}. */
  group: string;
  handler: string;
  /** Event type. */
  type: string;
  /** Name or code of the error, such as `TypeError` or `unknown_type`. */
  kind: string;
  /** Its message, with `…` in place of numbers, ids, addresses and quoted texts. */
  message: string;
  /** Events in the group; each has one piece of work in it. */
  events: number;
  /** True when there are more events than are counted. */
  isCapped: boolean;
  /** Runs of them that failed so far. */
  failures: number;
  /** How many of the events are in which state. */
  states: Record<FailedState, number>;
  /** When the first of the events was received, ISO 8601. */
  firstAt: string;
  /** When one of them failed last, ISO 8601. */
  lastAt: string;
  /** Events per step, by when they failed last, for a sparkline. */
  counts: number[];
  /** The event that failed last, with its error as it was. */
  example: { id: string; error: string | null };
}
