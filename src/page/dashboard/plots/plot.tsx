import { useState } from "preact/hooks";
import { highestStep, lastKnown, sumOf, type PlotSeries } from "./plot-series.js";
import { formatSpan, formatTime } from "../../text/format.js";
import type { PlotFace } from "./plot-options.js";
import { useChart } from "./use-chart.js";

interface PlotOptions extends PlotFace {
  title: string;
  /** Start of each step, ISO 8601. */
  times: readonly string[];
  /** True for numbers of what happened in each step. @default false */
  isPerStep?: boolean;
  /** What is said while nothing is known. */
  emptyText?: string;
}

/** In pixels. */
const HEIGHT = 168;

/** Values over time, with a legend of those under the pointer, or the last ones. Arrow keys move the pointer. */
export function Plot(options: PlotOptions) {
  const { title, series, emptyText = "No figures of this time yet." } = options;
  return (
    <section class="panel plot" aria-label={title}>
      {lastKnown(series) === -1 ? (
        <>
          <h2>{title}</h2>
          <p class="plot-empty hint">{emptyText}</p>
        </>
      ) : (
        <Drawn {...options} />
      )}
    </section>
  );
}

function Drawn(options: PlotOptions) {
  const { title, times, series, format, formatRight = format } = options;
  const [pointed, setPointed] = useState<number | null>(null);
  const chart = useChart({ face: options, times, height: HEIGHT, onPoint: setPointed });
  const index = pointed ?? lastKnown(series);
  const at = formatTime(times[index] ?? "");
  // Without a pointer, a legend of counts and of times is about the whole time that is drawn.
  const isTotal = options.isPerStep === true && pointed === null;
  const isHighest = options.isBound === true && pointed === null;
  const write = ({ values, texts, axis }: PlotSeries): string => {
    const step = isHighest ? highestStep(values) : index;
    const value = isTotal ? sumOf(values) : (values[step] ?? null);
    return value === null ? "–" : (texts?.[step] ?? (axis === "right" ? formatRight : format)(value));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: times.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    chart.point(Math.min(times.length - 1, Math.max(0, next)));
  };
  return (
    <>
      <Head {...options} at={isTotal ? "in all" : isHighest ? "highest" : at} />
      <div class="plot-legend">
        {series.map((each) => (
          <span class="legend" key={each.label}>
            <span class={`plot-mark ${each.tone} ${each.axis === "right" ? "dashed" : ""}`} />
            {each.label} <b>{write(each)}</b>
          </span>
        ))}
      </div>
      <div
        ref={chart.ref}
        role="slider"
        tabIndex={0}
        aria-label={`${title}: moment`}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, times.length - 1)}
        aria-valuenow={Math.max(0, index)}
        aria-valuetext={`${at}: ${series.map((each) => `${each.label} ${write(each)}`).join(", ")}`}
        onKeyDown={onKeyDown}
      />
    </>
  );
}

function Head({ title, stepMs, isPerStep, isBound, at }: PlotOptions & { at: string }) {
  return (
    <div class="plot-head">
      <h2>{title}</h2>
      {isPerStep === true && <span class="hint">per {formatSpan(stepMs)}</span>}
      {isBound === true && (
        <span class="hint" title="Times are counted in ranges: a line is at the end of its range">
          upper bounds
        </span>
      )}
      <span class="spring" />
      <span class="hint">{at}</span>
    </div>
  );
}
