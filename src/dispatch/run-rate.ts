import { DAY, type Duration, SECOND } from "../base/duration.js";
import { type OptionsOf, type Resolved, defineOptions, duration, requiredWholeNumber } from "../base/options.js";

/** A whole number from 1 on, as far as the compiler knows it. */
export type FromOne<Count extends number> = `${Count}` extends "0" | `-${string}` | `${string}.${string}`
  ? never
  : Count;

/** How often a handler may run. */
export interface RunRate {
  /** Most runs in any span, retries included; 1 or more. */
  runs: number;
  /** The span, from 1 s to 1 day: milliseconds, or a text such as `"1s"`. */
  per: Duration;
}

/** The option of a handler, with a whole number of runs. */
export interface CheckedRate<Runs extends number> {
  /** Does not fit where the number is known to be none of these. */
  rate?: { runs: FromOne<Runs> } | undefined;
}

/** The defaults and checks of {@link RunRate}. */
export const RATE_OPTIONS = defineOptions("rate", {
  runs: requiredWholeNumber({ min: 1 }),
  per: duration({ min: SECOND, max: DAY }),
} satisfies OptionsOf<RunRate>);

/** The same, with the span in milliseconds. */
export type Rate = Resolved<typeof RATE_OPTIONS>;

/** How late a run may begin, in milliseconds, where the process was busy; runs are further apart for that. */
export const slackOf = ({ per }: Rate): number => Math.min(per / 20, SECOND);

/** Runs may wait for so long in a process, in milliseconds. */
const SOON_MS = SECOND / 4;

/**
 * The time from one run to the next, in milliseconds: no span has more runs than it may, also when the first of them
 * begins late.
 */
export const gapOf = (rate: Rate): number => (rate.per + slackOf(rate)) / rate.runs;

/** How many of the runs begin soon, at least one. */
export const runsSoon = (rate: Rate): number => Math.max(1, Math.floor(SOON_MS / gapOf(rate)));
