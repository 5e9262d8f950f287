import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { drawingOrder, plotOptions, type PlotFace } from "./plot-options.js";
import { stackSeries } from "./plot-series.js";
import { onColoursChanged } from "./tone-colour.js";

interface ChartOptions {
  face: PlotFace;
  /** Start of each step, ISO 8601. */
  times: readonly string[];
  /** In pixels. */
  height: number;
  /** The step under the pointer; null without one. */
  onPoint: (index: number | null) => void;
}

/** A chart of the library in an element: made once for its series, given new numbers, and as wide as there is room. */
export function useChart({ face, times, height, onPoint }: ChartOptions) {
  const ref = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);

  useEffect(() => {
    const host = ref.current;
    if (host === null) return;
    const widthOf = () => Math.max(80, host.clientWidth);
    const made = new uPlot(
      {
        ...plotOptions(face, { width: widthOf(), height }),
        hooks: { setCursor: [({ cursor, data }) => onPoint(stepAt(cursor.idx, data[0].length - 1))] },
      },
      dataOf(face, times),
      host,
    );
    chart.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: widthOf(), height }));
    observer.observe(host);
    const stop = onColoursChanged(() => made.redraw());
    return () => {
      stop();
      observer.disconnect();
      made.destroy();
      chart.current = null;
    };
  }, [shapeOf(face)]);

  useEffect(() => chart.current?.setData(dataOf(face, times)), [times, JSON.stringify(face.series)]);

  return {
    ref,
    /** Moves the line over the plot to a step. */
    point(index: number) {
      const at = times[index];
      if (at !== undefined) chart.current?.setCursor({ left: chart.current.valToPos(Date.parse(at), "x"), top: 0 });
    },
  };
}

/** What cannot be changed in a chart that is there. */
function shapeOf({ isStacked, stepMs, series }: PlotFace): string {
  return JSON.stringify([isStacked, stepMs, series.map(({ label, tone, axis }) => [label, tone, axis])]);
}

/** The last moment is the end of the newest step, so that the step is drawn while it is under way. */
function dataOf(face: PlotFace, times: readonly string[]): uPlot.AlignedData {
  const values = face.isStacked === true ? stackSeries(face.series) : face.series.map((series) => series.values);
  const starts = times.map((time) => Date.parse(time));
  const end = (starts.at(-1) ?? 0) + face.stepMs;
  const layers = drawingOrder(face).map((index) => [...(values[index] ?? []), null]);
  return [[...starts, end], ...layers];
}

/** The step at a moment of the plot, of which the last one only ends the newest of `steps` steps. */
function stepAt(index: number | null | undefined, steps: number): number | null {
  return index === null || index === undefined ? null : Math.min(index, steps - 1);
}
