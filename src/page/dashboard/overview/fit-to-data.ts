import { DAY, HOUR } from "../../../base/duration.js";
import type { FigureRange, OverviewFigures } from "../../../dashboard/state-now.js";

/** Steps that are shown at least: fewer would be drawn as blocks. */
const MIN_STEPS = 24;

/** Of each range the next shorter one, whose steps are finer. */
const SHORTER: Partial<Record<FigureRange, { range: FigureRange; spanMs: number }>> = {
  "24h": { range: "1h", spanMs: HOUR },
  "7d": { range: "24h", spanMs: DAY },
};

/** The shorter range that has all of these figures too, as on the first day; undefined without one. */
export function shorterRange(figures: OverviewFigures): FigureRange | undefined {
  const { range, times, stepMs } = figures;
  const shorter = SHORTER[range];
  const first = times[firstStep(figures)];
  if (shorter === undefined || first === undefined) return undefined;
  const end = Date.parse(times.at(-1) ?? "") + stepMs;
  return Date.parse(first) >= end - shorter.spanMs ? shorter.range : undefined;
}

/** The figures without the steps before the first delivery or run, so that those of the first day fill the plots. */
export function fitToData(figures: OverviewFigures): OverviewFigures {
  const { times } = figures;
  const from = Math.max(0, firstStep(figures) - 1);
  const start = Math.min(from, Math.max(0, times.length - MIN_STEPS));
  return start === 0 ? figures : (cutSteps(figures, times.length, start) as OverviewFigures);
}

/** The step of the first delivery or run; the number of steps without one. */
function firstStep({ times, answers, handlers }: OverviewFigures): number {
  const counted = [...Object.values(answers), ...handlers.map(({ runs }) => runs)];
  const firsts = counted.map((values) => values.findIndex((value) => (value ?? 0) > 0)).filter((at) => at !== -1);
  return Math.min(...firsts, times.length);
}

/** Cuts all lists of values by step, wherever they are. */
function cutSteps(value: unknown, steps: number, start: number): unknown {
  if (Array.isArray(value)) {
    const isBySteps = value.length === steps && value.every((each) => each === null || typeof each !== "object");
    return isBySteps ? value.slice(start) : value.map((each) => cutSteps(each, steps, start));
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cutSteps(each, steps, start)]));
}
