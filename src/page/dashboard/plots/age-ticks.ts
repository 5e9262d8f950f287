import { DAY, HOUR, MINUTE, SECOND } from "../../../base/duration.js";

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
