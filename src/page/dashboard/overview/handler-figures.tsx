import type { OverviewFigures, RunSeries, StepValues } from "../../../web/api/overview.js";
import { escapeControls } from "../../../base/text.js";
import { addUp, highest } from "../plots/plot-series.js";
import { Plot } from "../plots/plot.js";
import { chosenHandler } from "./figures.js";
import { formatCount, formatMs } from "../../text/format.js";
import { timeSeries } from "./plotted-series.js";

/** Runs and times of handlers: of the chosen one, or of all. */
export function HandlerFigures({ figures }: { figures: OverviewFigures }) {
  const { times, stepMs, handlers } = figures;
  const chosen = handlers.find(({ handler }) => handler === chosenHandler.value);
  const shown = chosen === undefined ? handlers : [chosen];
  const of = chosen === undefined ? "all handlers" : escapeControls(chosen.handler);
  const suffix = chosen === undefined ? " of the slowest handler" : "";
  const failed = addUp(shown.map((each) => each.failed));
  const done = addUp(shown.map((each) => each.runs)).map((ended, index) =>
    ended === null ? null : ended - (failed[index] ?? 0),
  );
  const ofSlowest = (of: (each: RunSeries) => StepValues): StepValues => highest(shown.map(of));
  const common = { times, stepMs, emptyText: "No runs in this time." };
  return (
    <>
      <Plot
        {...common}
        title={`Runs of ${of}`}
        isPerStep
        series={[
          { label: "failed", tone: "bad", values: failed },
          { label: "done", tone: "good", values: done },
        ]}
        format={formatCount}
        isStacked
        isWhole
      />
      <Plot
        {...common}
        title={`Time of runs of ${of}`}
        series={[
          timeSeries({ label: `median${suffix}`, tone: "accent", fromMs: ofSlowest((each) => each.medianFromMs) }),
          timeSeries({ label: `95 %${suffix}`, tone: "warn", fromMs: ofSlowest((each) => each.p95FromMs) }),
        ]}
        format={formatMs}
        isWhole
        isBound
      />
    </>
  );
}
