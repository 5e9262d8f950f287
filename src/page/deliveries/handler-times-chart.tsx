import { shownHandler } from "../state/handler-times.js";
import { TimesChart } from "./times-chart.js";

/** Number of runs of the chosen handler by the time that they took. */
export function HandlerTimesChart() {
  const shown = shownHandler();
  if (shown === undefined) return null;
  const bins = shown.buckets.map(({ fromMs, toMs, done, failed }) => {
    return { from: fromMs, to: toMs ?? Number.POSITIVE_INFINITY, done, failed };
  });
  return <TimesChart bins={bins} what="run" />;
}
