import type { StepValues } from "../../../dashboard/state-now.js";
import { DAY, HOUR, MINUTE, SECOND } from "../../../base/duration.js";

/** A colour of the theme, by its name there. */
export type PlotTone = "accent" | "good" | "warn" | "bad" | "mute" | "line";

/** One line, or one layer of a stack. */
export interface PlotSeries {
  label: string;
  /** As many as there are times. */
  values: StepValues;
  tone: PlotTone;
  /** What is said of each value in place of the number. */
  texts?: readonly (string | null)[];
  /** The scale that it is drawn by. @default 'left' */
  axis?: "left" | "right";
}

/** The sums of each series and of those before it, for layers that lie on one another. */
export function stackSeries(series: readonly PlotSeries[]): StepValues[] {
  let below: StepValues = [];
  return series.map(({ values }) => {
    const sums = values.map((value, index) => {
      const base = below[index] ?? null;
      return value === null && base === null ? null : (value ?? 0) + (base ?? 0);
    });
    below = sums;
    return sums;
  });
}

/** The sum at each step; null where none of them is known. */
export function addUp(series: readonly StepValues[]): StepValues {
  return combine(series, (known) => known.reduce((sum, value) => sum + value, 0));
}

/** The highest value at each step; null where none is known. */
export function highest(series: readonly StepValues[]): StepValues {
  return combine(series, (known) => Math.max(...known));
}

function combine(series: readonly StepValues[], run: (known: readonly number[]) => number): StepValues {
  const length = Math.max(0, ...series.map((values) => values.length));
  return Array.from({ length }, (_, index) => {
    const known = series.flatMap((values) => values[index] ?? []);
    return known.length === 0 ? null : run(known);
  });
}

/** The sum of all steps. */
export function sumOf(values: StepValues): number {
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

/** The step with the highest value; -1 where none is known. */
export function highestStep(values: StepValues): number {
  return values.indexOf(Math.max(...values.map((value) => value ?? -Infinity)));
}

/** The values whose neighbours are both unknown. */
export function loneIndexes(values: ArrayLike<number | null | undefined>): number[] {
  const isKnown = (index: number): boolean => typeof values[index] === "number";
  return Array.from({ length: values.length }, (_, index) => index).filter(
    (index) => isKnown(index) && !isKnown(index - 1) && !isKnown(index + 1),
  );
}

/** The last step of which something is known; -1 without one. */
export function lastKnown(series: readonly PlotSeries[]): number {
  return Math.max(-1, ...series.map(({ values }) => values.findLastIndex((value) => value !== null)));
}

const UNITS = [
  [DAY, "d", [1, 2, 5, 10, 20, 50, 100, 200, 500]],
  [HOUR, "h", [1, 2, 3, 6, 12]],
  [MINUTE, "min", [1, 2, 5, 10, 15, 30]],
  [SECOND, "s", [1, 2, 5, 10, 15, 30]],
] as const;

/** The distances that ticks of an axis of ages may have, shortest first, in milliseconds. */
export const AGE_STEPS: number[] = UNITS.toReversed().flatMap(([unitMs, , steps]) =>
  steps.map((step) => step * unitMs),
);

/** An age at a tick, in the unit of the distance between ticks: `90 s` where they are 30 s apart. */
export function formatAgeTick(ms: number, stepMs: number): string {
  const [unitMs, unit] = UNITS.find(([each]) => stepMs >= each) ?? [SECOND, "s"];
  return `${Number((ms / unitMs).toFixed(2))} ${unit}`;
}
