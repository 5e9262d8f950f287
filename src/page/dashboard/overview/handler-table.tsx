import type { DashboardOverview, HandlerSeries, RunSeries } from "../../../dashboard/api/overview.js";
import { describeRunTime } from "../../../base/run-time-bounds.js";
import { escapeControls } from "../../../base/text.js";
import { formatCount, formatTime } from "../../ui/format.js";
import { Sparkline } from "../plots/sparkline.js";
import { setParams } from "../state/dashboard-address.js";
import { DataTable } from "../ui/data-table.js";
import { chosenHandler } from "./figures.js";
import { lacksSteps } from "./lacks-steps.js";

/**
 * Each handler's runs, as the store counts them by handler, or from the plots while it cannot be read; a click plots
 * a handler alone.
 */
export function HandlerTable({ figures }: { figures: DashboardOverview }) {
  const { handlers, unplottedHandlers, otherHandlers, timesSince } = figures;
  const chosen = chosenHandler.value;
  const lines = [
    ...handlers.map((series) => ({ handler: series.handler, times: series.times, series })),
    ...unplottedHandlers.map((times) => ({ handler: times.handler, times, series: null })),
  ].toSorted((one, other) => (one.handler < other.handler ? -1 : 1));
  if (lines.length === 0 && otherHandlers === null) return null;
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
          <HandlerLine key={line.handler} {...line} others={otherHandlers} isChosen={line.handler === chosen} />
        ))}
        {otherHandlers !== null && <OtherHandlersLine series={otherHandlers} isCountedAbove={timesSince !== null} />}
      </DataTable>
    </section>
  );
}

interface HandlerLineProps {
  handler: string;
  times: HandlerSeries["times"];
  /** Null for a handler that the plots do not have by itself. */
  series: RunSeries | null;
  others: RunSeries | null;
  isChosen: boolean;
}

function HandlerLine({ handler, times, series, others, isChosen }: HandlerLineProps) {
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
      <RunCells counts={times ?? countsOf(series, others)} times={times} />
      <td>
        {series === null ? (
          <span class="hint">{others === null ? "none in the plots" : "not plotted alone"}</span>
        ) : (
          <RunsOverTime series={series} name={name} isPartial={lacksSteps(series, others)} />
        )}
      </td>
    </tr>
  );
}

function OtherHandlersLine({ series, isCountedAbove }: { series: RunSeries; isCountedAbove: boolean }) {
  return (
    <tr>
      <td>
        <span class="hint" title="A step of the plots has room for some handlers; the others are plotted together">
          Other handlers{isCountedAbove && ", counted above too"}
        </span>
      </td>
      <RunCells counts={countsOf(series, null)} times={null} />
      <td>
        <RunsOverTime series={series} name="other handlers" isPartial={false} />
      </td>
    </tr>
  );
}

interface ShownRuns {
  runs: number;
  failed: number;
  /** True where there may be more of them. */
  isPartial?: boolean;
}

function RunCells({ counts, times }: { counts: ShownRuns; times: HandlerSeries["times"] }) {
  const { runs, failed, isPartial = false } = counts;
  const least = isPartial ? "≥ " : "";
  return (
    <>
      <td class="number">{`${least}${formatCount(runs)}`}</td>
      <td class={failed > 0 ? "number bad" : "number"}>
        {`${least}${formatCount(failed)}`} {failed > 0 && !isPartial && `(${((100 * failed) / runs).toFixed(1)} %)`}
      </td>
      <td class="number">{times === null ? "–" : describeRunTime(times.medianMs)}</td>
      <td class="number">{times === null ? "–" : describeRunTime(times.p95Ms)}</td>
    </>
  );
}

interface RunsOverTimeProps {
  series: RunSeries;
  name: string;
  isPartial: boolean;
}

function RunsOverTime({ series, name, isPartial }: RunsOverTimeProps) {
  const { runs, failed } = countsOf(series, null);
  const counted = `${formatCount(runs)} runs of ${name}, ${formatCount(failed)} failed`;
  return (
    <Sparkline
      values={series.runs}
      tone={failed > 0 ? "bad" : "accent"}
      label={isPartial ? `${counted}, in the steps that have them alone` : counted}
    />
  );
}

function countsOf(series: RunSeries | null, others: RunSeries | null): ShownRuns {
  if (series === null) return { runs: 0, failed: 0 };
  return { runs: total(series.runs), failed: total(series.failed), isPartial: lacksSteps(series, others) };
}

function total(values: readonly (number | null)[]): number {
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}
