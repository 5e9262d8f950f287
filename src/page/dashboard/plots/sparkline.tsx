import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { PlotTone } from "./plot-series.js";
import { onColoursChanged, toneColour } from "./tone-colour.js";

interface SparklineOptions {
  /** Of the first to the last step; null where nothing is known. */
  values: readonly (number | null)[];
  tone: PlotTone;
  /** What it counts: for screen readers, and while the pointer is over it. */
  label: string;
}

/** Bars in the height of a line of text, without axes. */
export function Sparkline({ values, tone, label }: SparklineOptions) {
  const ref = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  useEffect(() => {
    if (ref.current === null) return;
    const made = new uPlot(sparkOptions(tone), dataOf(values), ref.current);
    chart.current = made;
    const stop = onColoursChanged(() => made.redraw());
    return () => {
      stop();
      made.destroy();
      chart.current = null;
    };
  }, [tone]);
  useEffect(() => chart.current?.setData(dataOf(values)), [JSON.stringify(values)]);
  return <div class="sparkline" ref={ref} role="img" aria-label={label} title={label} />;
}

function sparkOptions(tone: PlotTone): uPlot.Options {
  const bars = uPlot.paths.bars?.({ size: [0.8, 12] });
  const fill = () => toneColour(tone);
  return {
    width: 120,
    height: 24,
    padding: [2, 1, 1, 1],
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: (_, first, last) => [first - 0.5, last + 0.5] },
      y: { range: (_, __, most: number | null) => [0, Math.max(1, most ?? 0)] },
    },
    axes: [{ show: false }, { show: false }],
    series: [{}, { width: 0, fill, points: { show: false }, ...(bars && { paths: bars }) }],
  };
}

function dataOf(values: readonly (number | null)[]): uPlot.AlignedData {
  return [values.map((_, index) => index), [...values]];
}
