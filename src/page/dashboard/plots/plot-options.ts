import uPlot from "uplot";
import { MINUTE } from "../../../base/duration.js";
import { AGE_STEPS, formatAgeTick, loneIndexes, type PlotSeries } from "./plot-series.js";
import { paleColour, toneColour } from "./tone-colour.js";

/** What a plot shows, apart from the times of its steps. */
export interface PlotFace {
  series: readonly PlotSeries[];
  /** Bars on one another instead of lines. @default false */
  isStacked?: boolean;
  /** True for times, of which upper bounds are known. Lines pass over steps without one. @default false */
  isBound?: boolean;
  /** The left axis is one of powers of ten. @default false */
  isLog?: boolean;
  /** Numbers that can only be whole. @default false */
  isWhole?: boolean;
  /** Length of a step, in milliseconds. */
  stepMs: number;
  format: (value: number) => string;
  /** Of series on the right axis. @default format */
  formatRight?: (value: number) => string;
  /** Ages in milliseconds on the right axis. @default false */
  isRightAge?: boolean;
}

/** All plots show the same moment under the pointer. */
const SYNC_KEY = "dashboard";

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hour12: false });
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });

const WHOLE_STEPS = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/** The settings of the chart library for a plot of this size, in pixels. */
export function plotOptions(face: PlotFace, size: { width: number; height: number }): uPlot.Options {
  const hasRight = face.series.some(({ axis }) => axis === "right");
  return {
    ...size,
    ms: 1,
    padding: [6, hasRight ? 0 : 10, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { size: 6 }, sync: { key: SYNC_KEY, setSeries: false }, y: false },
    scales: {
      x: { time: true },
      // A constant enum too, see below: 3 is the logarithmic one.
      // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
      left: face.isLog === true ? { distr: 3 } : { range: fromZero },
      right: { range: fromZero },
    },
    axes: [timeAxis(face.stepMs), valueAxis("left", face), ...(hasRight ? [valueAxis("right", face)] : [])],
    series: [{}, ...drawingOrder(face).map((index) => seriesOptions(face, index))],
  };
}

/** Which series stands at which place of the library's list: it paints later ones over earlier ones. */
export function drawingOrder({ series, isStacked }: Pick<PlotFace, "series" | "isStacked">): number[] {
  const order = series.map((_, index) => index);
  return isStacked === true ? order.toReversed() : order;
}

/** A value between unknown ones has no line: it is shown as a point. */
const LONE_POINTS: uPlot.Series.Points = {
  show: false,
  size: 4,
  filter: ({ data }, index) => loneIndexes(data[index] ?? []),
};

/** As wide as a step, and never too narrow to be seen. */
const BARS = uPlot.paths.bars?.({ size: [1, Infinity, 3], align: 1 });

function seriesOptions({ series, isStacked, isBound = false }: PlotFace, index: number): uPlot.Series {
  const { label, tone, axis } = series[index] ?? { label: "", tone: "mute" };
  const stroke = () => toneColour(tone);
  const common = { label, scale: axis ?? "left", points: { ...LONE_POINTS, fill: stroke }, spanGaps: isBound };
  if (isStacked === true) {
    return { ...common, stroke, fill: stroke, width: 0, points: { show: false }, ...(BARS && { paths: BARS }) };
  }
  if (axis === "right") return { ...common, stroke, width: 1.5, dash: [4, 3] };
  // Several lines, such as those of quantiles, stay lines.
  const isAlone = series.filter((each) => each.axis !== "right").length === 1;
  return { ...common, stroke, width: 1.5, ...(isAlone && { fill: () => paleColour(tone, 0.08) }) };
}

function timeAxis(stepMs: number): uPlot.Axis {
  const hasDays = stepMs > 5 * MINUTE;
  return {
    stroke: () => toneColour("mute"),
    font: "11px system-ui",
    grid: { show: false },
    ticks: { show: true, stroke: () => toneColour("line"), width: 1, size: 4 },
    size: 24,
    space: 64,
    values: (_, splits) => splits.map((at) => (hasDays && isMidnight(at) ? day : clock).format(at)),
  };
}

function valueAxis(
  scale: "left" | "right",
  { format, formatRight = format, isLog, isWhole, isRightAge }: PlotFace,
): uPlot.Axis {
  const write = scale === "left" ? format : formatRight;
  const isAge = scale === "right" && isRightAge === true;
  return {
    scale,
    // The library names its sides by a constant enum that has no values at run time: 1 is the right one.
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
    ...(scale === "right" ? { side: 1 } : {}),
    stroke: () => toneColour("mute"),
    font: "11px system-ui",
    grid: {
      show: scale === "left",
      stroke: () => paleColour("line", 0.7),
      width: 1,
      ...(isLog === true && {
        filter: (_, splits) => splits.map((at) => (Number.isInteger(Math.log10(at)) ? at : null)),
      }),
    },
    ticks: { show: false },
    size: 60,
    space: 32,
    ...(scale === "left" && isWhole === true ? { incrs: WHOLE_STEPS } : {}),
    ...(isAge ? { incrs: AGE_STEPS } : {}),
    values: (_, splits, __, ___, step) => splits.map((value) => (isAge ? formatAgeTick(value, step) : write(value))),
  };
}

/** From 0 to a little above the highest value, which is null where nothing is known. */
function fromZero(_: uPlot, __: number | null, most: number | null): [number, number] {
  return [0, most === null || most <= 0 ? 1 : most * 1.08];
}

function isMidnight(at: number): boolean {
  const time = new Date(at);
  return time.getHours() === 0 && time.getMinutes() === 0;
}
