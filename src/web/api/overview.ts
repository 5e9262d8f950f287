/*
 * GET  api/overview?range=1h|24h|7d            → OverviewFigures
 */
import type { HandlerTimes } from "../../operator/inbox-rows.js";
import type { FigureRange, FigureSeries, HandlerRunSeries, RunSeries, StepValues } from "../../store/figures.js";
import type { StateNow } from "./now.js";

export type { FigureRange, RunSeries, StepValues };

/**
 * What the plots show: all processes of the store together. With {@link StateNow.trouble}: the last hour of this
 * process, whatever range was asked for.
 */
export interface OverviewFigures extends Omit<FigureSeries, "handlers" | "unreadable"> {
  /** In the order of their names. */
  handlers: HandlerSeries[];
  /** Runs since `timesSince` of handlers that did not run in any of the steps, in the order of their names. */
  unplottedHandlers: HandlerTimes[];
  /**
   * From when on `times` and `unplottedHandlers` are: a whole step of ten minutes, in milliseconds since 1970. Null
   * while the store cannot be read.
   */
  timesSince: number | null;
  now: StateNow;
}

/** A handler's runs in each step. */
export interface HandlerSeries extends HandlerRunSeries {
  /** All its runs since {@link OverviewFigures.timesSince}; null without one. */
  times: HandlerTimes | null;
}
