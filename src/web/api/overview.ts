/*
 * GET  api/overview?range=1h|24h|7d            → OverviewFigures
 */
import type { FigureRange, FigureSeries, RunSeries, StepValues } from "../../store/figures.js";
import type { StateNow } from "./now.js";

export type { FigureRange, RunSeries, StepValues };

/**
 * What the plots show: all processes of the store together. With {@link StateNow.trouble}: the last hour of this
 * process, whatever range was asked for.
 */
export interface OverviewFigures extends Omit<FigureSeries, "unreadable"> {
  now: StateNow;
}
