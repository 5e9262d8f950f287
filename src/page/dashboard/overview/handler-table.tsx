import type { DashboardOverview, HandlerSeries, RunSeries } from "../../../dashboard/api/overview.js";
import { describeRunTime } from "../../../base/run-time-bounds.js";
import { escapeControls } from "../../../base/text.js";
import { formatCount, formatTime } from "../../ui/format.js";
import { Sparkline } from "../plots/sparkline.js";
import { setParams } from "../../state/address.js";
import { DataTable } from "../../ui/data-table.js";
import { chosenHandler } from "./figures.js";

/**
 * Each handler's runs, as the store counts them by handler, or from the plots while it cannot be read; a click plots
 * a handler alone.
 */
export function HandlerTable({ figures }: { figures: DashboardOverview }) {
  const { handlers, unplottedHandlers, timesSince } = figures;
  const chosen = chosenHandler.value;
  const lines = [
    ...handlers.map((series) => ({ handler: series.handler, times: series.times, series })),
    ...unplottedHandlers.map((times) => ({ handler: times.handler, times, series: null })),
  ].toSorted((one, other) => (one.handler < other.handler ? -1 : 1));
  if (lines.length === 0) return null;
  return (
    <section class="plot wide" aria-label="Handlers">
      <div class="plot-head">
        <h2>Handlers</h2>
        {timesSince !== null && <span class="hint">counted since {formatTime(timesSince)}</span>}
        <span class="spring" />
        {chosen !== "" && (
          <button type="button" class="button small" onClick={() => setParams({ handler: "" })}>
            Plot all handlers
          </button>
        )}
      </div>
      <DataTable
        label="Handlers in this time"
        columns={["Handler", "#Runs", "#Failed", "#Median", "#95 %", "Runs over time"]}
      >
        {lines.map((line) => (
          <HandlerLine key={line.handler} {...line} isChosen={line.handler === chosen} />
        ))}
      </DataTable>
    </section>
  );
}

interface HandlerLineProps {
  handler: string;
  times: HandlerSeries["times"];
  /** Null for a handler that the plots do not have. */
  series: RunSeries | null;
  isChosen: boolean;
}

function HandlerLine({ handler, times, series, isChosen }: HandlerLineProps) {
  const name = escapeControls(handler);
  return (
    <tr class={isChosen ? "shown" : ""} data-row={handler}>
      <td class="long">
        {series === null ? (
          name
        ) : (
          <button
            type="button"
            class="link"
            aria-pressed={isChosen}
            title="Plot this handler alone"
            onClick={() => setParams({ handler: isChosen ? "" : handler })}
          >
            {name}
          </button>
        )}
      </td>
      <RunCells counts={times ?? countsOf(series)} times={times} />
      <td>
        {series === null ? <span class="hint">none in the plots</span> : <RunsOverTime series={series} name={name} />}
      </td>
    </tr>
  );
}

interface ShownRuns {
  runs: number;
  failed: number;
}

function RunCells({ counts, times }: { counts: ShownRuns; times: HandlerSeries["times"] }) {
  const { runs, failed } = counts;
  return (
    <>
      <td class="number">{formatCount(runs)}</td>
      <td class={failed > 0 ? "number bad" : "number"}>
        {formatCount(failed)} {failed > 0 && `(${((100 * failed) / runs).toFixed(1)} %)`}
      </td>
      <td class="number">{times === null ? "–" : describeRunTime(times.medianMs)}</td>
      <td class="number">{times === null ? "–" : describeRunTime(times.p95Ms)}</td>
    </>
  );
}

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

function countsOf(series: RunSeries | null): ShownRuns {
  return { runs: total(series?.runs ?? []), failed: total(series?.failed ?? []) };
}

function total(values: readonly (number | null)[]): number {
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}
