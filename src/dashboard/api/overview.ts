/*
 * GET  api/overview?range=1h|24h|7d            → DashboardOverview
 */
import type { HandlerTimesRow } from "../../dev/api/page-api.js";
import type { OutcomeKind } from "../../protocol/outcome.js";
import type { FigureRange, StepValues, TimeSeries } from "../../store/figures.js";
import type { DashboardNow } from "./now.js";

export type { FigureRange, StepValues };

/**
 * What the plots show: all processes of the store together. With {@link DashboardNow.trouble}: the last hour of this
 * process, whatever range was asked for.
 */
export interface DashboardOverview {
  range: FigureRange;
  /** Length of a step, in milliseconds. */
  stepMs: number;
  /** Start of each step, in milliseconds since 1970, ascending without gaps; the last step may still be open. */
  times: number[];
  /** Deliveries in each step, by outcome; outcomes without any are left out. */
  answers: Partial<Record<OutcomeKind, StepValues>>;
  /** Time from a delivery to its answer. */
  latency: TimeSeries;
  /** In the order of their names; null in steps in which runs of a handler may be among those of the others. */
  handlers: HandlerSeries[];
  /** Runs of handlers that found no place in a step, together; null without any. */
  otherHandlers: DashboardRunSeries | null;
  /** All runs of handlers that have no place in any of the steps, in the order of their names. */
  unplottedHandlers: HandlerTimesRow[];
  /**
   * From when on `times` and `unplottedHandlers` are: a whole step of ten minutes, in milliseconds since 1970. Null
   * while the store cannot be read.
   */
  timesSince: number | null;
  /** Work that waits or runs; and the age of the oldest, in milliseconds. */
  backlog: { depth: StepValues; oldestAgeMs: StepValues };
  /** Contact events that wait or are being sent; and the age of the oldest, in milliseconds. */
  outbox: { depth: StepValues; oldestAgeMs: StepValues };
  /** Of the store, and of its disk; null throughout on PostgreSQL where it is not known. */
  disk: { usedBytes: StepValues; freeBytes: StepValues };
  now: DashboardNow;
}

/** Runs in each step. */
export interface DashboardRunSeries extends TimeSeries {
  /** Runs that ended, those that failed included. */
  runs: StepValues;
  failed: StepValues;
}

/** A handler's runs in each step. */
export interface HandlerSeries extends DashboardRunSeries {
  handler: string;
  /** All its runs since {@link DashboardOverview.timesSince}; null without one. */
  times: HandlerTimesRow | null;
}
