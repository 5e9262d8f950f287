import type { RunSeries } from "../../../dashboard/api/overview.js";

/** Whether there are steps in which a handler's runs may be among those of other handlers. */
export function lacksSteps(series: RunSeries, others: RunSeries | null): boolean {
  return others !== null && others.runs.some((runs, step) => runs !== null && series.runs[step] === null);
}
