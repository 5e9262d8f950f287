import { Button } from "../../ui/button.js";
import type { OverviewFigures, HandlerSeries, RunSeries } from "../../../web/api/overview.js";
import { describeRunTime } from "../../../base/run-time-bounds.js";
import { escapeControls } from "../../../base/text.js";
import { Sparkline } from "../plots/sparkline.js";
import { setParams } from "../../state/address.js";
import { DataTable, type TableColumn } from "../../ui/data-table.js";
import { formatCount, formatTime } from "../../text/format.js";
import { sumOf } from "../plots/plot-series.js";
import { chosenHandler } from "./figures.js";

/**
 * Each handler's runs, as the store counts them by handler, or from the plots while it cannot be read; a click plots
 * a handler alone.
 */
export function HandlerTable({ figures }: { figures: OverviewFigures }) {
  const { handlers, unplottedHandlers, timesSince } = figures;
  const chosen = chosenHandler.value;
  const lines: HandlerLine[] = [
    ...handlers.map((series) => ({ handler: series.handler, times: series.times, series })),
    ...unplottedHandlers.map((times) => ({ handler: times.handler, times, series: null })),
  ].toSorted((one, other) => (one.handler < other.handler ? -1 : 1));
  if (lines.length === 0) return null;
  return (
    <section class="panel wide" aria-label="Handlers">
      <div class="plot-head">
        <h2>Handlers</h2>
        {timesSince !== null && <span class="hint">counted since {formatTime(timesSince)}</span>}
        <span class="spring" />
        {chosen !== "" && <Button label="Plot all handlers" class="small" run={() => setParams({ handler: "" })} />}
      </div>
      <DataTable
        label="Handlers in this time"
        columns={COLUMNS}
        rows={lines}
        keyOf={({ handler }) => handler}
        list={{ isOpen: ({ handler }) => handler === chosen }}
      />
    </section>
  );
}

interface HandlerLine {
  handler: string;
  times: HandlerSeries["times"];
  /** Null for a handler that the plots do not have. */
  series: RunSeries | null;
}

const timesColumn = (title: string, name: "medianMs" | "p95Ms"): TableColumn<Pick<HandlerSeries, "times">> => ({
  title,
  class: "number",
  cell: ({ times }) => (times === null ? "–" : describeRunTime(times[name])),
});

/** How long the runs of a handler take. */
export const TIME_COLUMNS = [timesColumn("Median", "medianMs"), timesColumn("95 %", "p95Ms")];

const COLUMNS: readonly TableColumn<HandlerLine>[] = [
  {
    title: "Handler",
    class: "plain long",
    cell: ({ handler, series }) =>
      series === null ? (
        escapeControls(handler)
      ) : (
        <button
          type="button"
          class="link"
          aria-pressed={handler === chosenHandler.value}
          title="Plot this handler alone"
          onClick={() => setParams({ handler: handler === chosenHandler.value ? "" : handler })}
        >
          {escapeControls(handler)}
        </button>
      ),
  },
  { title: "Runs", class: "number", cell: (line) => formatCount(runsOf(line).runs) },
  {
    title: "Failed",
    class: "number",
    cell(line) {
      const { runs, failed } = runsOf(line);
      if (failed === 0) return "0";
      return <span class="bad">{`${formatCount(failed)} (${((100 * failed) / runs).toFixed(1)} %)`}</span>;
    },
  },
  ...TIME_COLUMNS,
  {
    title: "Runs over time",
    cell: ({ handler, series }) =>
      series === null ? (
        <span class="hint">none in the plots</span>
      ) : (
        <RunsOverTime series={series} name={escapeControls(handler)} />
      ),
  },
];

const runsOf = ({ times, series }: HandlerLine) => times ?? countsOf(series);

function RunsOverTime({ series, name }: { series: RunSeries; name: string }) {
  const { runs, failed } = countsOf(series);
  return (
    <Sparkline
      values={series.runs}
      tone={failed > 0 ? "bad" : "accent"}
      label={`${formatCount(runs)} runs of ${name}, ${formatCount(failed)} failed`}
    />
  );
}

function countsOf(series: RunSeries | null) {
  return { runs: sumOf(series?.runs ?? []), failed: sumOf(series?.failed ?? []) };
}
