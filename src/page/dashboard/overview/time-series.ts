import { describeRunTime, runTimeEnd } from "../../../base/run-time-bounds.js";
import type { StepValues } from "../../../web/api/overview.js";
import type { PlotSeries, PlotTone } from "../plots/plot-series.js";

interface TimeSeriesOptions {
  label: string;
  tone: PlotTone;
  /** Lower bounds of the ranges that the times are in. */
  fromMs: StepValues;
}

/** A line at the ends of the ranges that times are in; of the range without an end, at its begin. */
export function timeSeries({ label, tone, fromMs }: TimeSeriesOptions): PlotSeries {
  return {
    label,
    tone,
    values: fromMs.map((from) => (from === null ? null : (runTimeEnd(from) ?? from))),
    texts: fromMs.map((from) => (from === null ? null : describeRunTime(runTimeEnd(from)))),
  };
}
