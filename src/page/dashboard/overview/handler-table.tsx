import type { DashboardOverview, HandlerSeries, DashboardRunSeries } from "../../../dashboard/api/overview.js";
import { describeRunTime } from "../../../base/run-time-bounds.js";
import { escapeControls } from "../../../base/text.js";
import { formatCount } from "../../ui/format.js";
import { Sparkline } from "../plots/sparkline.js";
import { setParams } from "../state/dashboard-address.js";
import { DataTable } from "../ui/data-table.js";
import { chosenHandler } from "./figures.js";

/** Each handler's runs in the range; a click plots it alone. Those without a place in the figures are one line. */
export function HandlerTable({ figures: { handlers, otherHandlers } }: { figures: DashboardOverview }) {
  const chosen = chosenHandler.value;
  if (handlers.length === 0 && otherHandlers === null) return null;
  return (
    <section class="plot wide" aria-label="Handlers">
      <div class="plot-head">
        <h2>Handlers</h2>
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
        {handlers.map((each) => (
          <HandlerLine key={each.handler} series={each} isChosen={each.handler === chosen} />
        ))}
        {otherHandlers !== null && <OtherHandlersLine series={otherHandlers} />}
      </DataTable>
    </section>
  );
}

function HandlerLine({ series, isChosen }: { series: HandlerSeries; isChosen: boolean }) {
  const { handler, times } = series;
  const name = escapeControls(handler);
  return (
    <tr class={isChosen ? "shown" : ""} data-row={handler}>
      <td class="long">
        <button
          type="button"
          class="link"
          aria-pressed={isChosen}
          title="Plot this handler alone"
          onClick={() => setParams({ handler: isChosen ? "" : handler })}
        >
          {name}
        </button>
      </td>
      <RunCells series={series} name={name} times={times} />
    </tr>
  );
}

function OtherHandlersLine({ series }: { series: DashboardRunSeries }) {
  return (
    <tr>
      <td>
        <span class="hint" title="A step of the figures has room for some handlers; the rest is counted together">
          Other handlers
        </span>
      </td>
      <RunCells series={series} name="other handlers" times={null} />
    </tr>
  );
}

interface RunCellsProps {
  series: DashboardRunSeries;
  name: string;
  times: HandlerSeries["times"];
}

function RunCells({ series, name, times }: RunCellsProps) {
  const runs = total(series.runs);
  const failed = total(series.failed);
  return (
    <>
      <td class="number">{formatCount(runs)}</td>
      <td class={failed > 0 ? "number bad" : "number"}>
        {formatCount(failed)} {failed > 0 && `(${((100 * failed) / runs).toFixed(1)} %)`}
      </td>
      <td class="number">{times === null ? "–" : describeRunTime(times.medianMs)}</td>
      <td class="number">{times === null ? "–" : describeRunTime(times.p95Ms)}</td>
      <td>
        <Sparkline
          values={series.runs}
          tone={failed > 0 ? "bad" : "accent"}
          label={`${formatCount(runs)} runs of ${name}, ${formatCount(failed)} failed`}
        />
      </td>
    </>
  );
}

function total(values: readonly (number | null)[]): number {
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}
