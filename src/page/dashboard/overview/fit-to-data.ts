import type { OverviewFigures } from "../../../web/api/overview.js";

/** Steps that are shown at least: fewer would be drawn as blocks. */
const MIN_STEPS = 60;

/** The figures without the steps before the first delivery or run, so that those of the first day fill the plots. */
export function fitToData(figures: OverviewFigures): OverviewFigures {
  const { times, answers, handlers } = figures;
  const counted = [...Object.values(answers), ...handlers.map(({ runs }) => runs)];
  const firsts = counted.map((values) => values.findIndex((value) => (value ?? 0) > 0)).filter((at) => at !== -1);
  const from = Math.max(0, Math.min(...firsts, times.length) - 1);
  const start = Math.min(from, Math.max(0, times.length - MIN_STEPS));
  return start === 0 ? figures : (cutSteps(figures, times.length, start) as OverviewFigures);
}

/** Cuts all lists of values by step, wherever they are. */
function cutSteps(value: unknown, steps: number, start: number): unknown {
  if (Array.isArray(value)) {
    const isBySteps = value.length === steps && value.every((each) => each === null || typeof each === "number");
    return isBySteps ? value.slice(start) : value.map((each) => cutSteps(each, steps, start));
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cutSteps(each, steps, start)]));
}
