import type { Figures } from "./figures.js";

/**
 * The order in which handlers get a place of their own in a step, which has little room: the shortest names first, of
 * which most fit. How runs ended must not matter: steps in which more of them failed would be known more often.
 */
export function byPlace(one: string, other: string): number {
  return one.length - other.length || (one < other ? -1 : Number(one > other));
}

/**
 * Whether all runs of a handler are known. Those of handlers after the last one that has a place may be among the
 * others. A handler before it has a place, or no runs.
 */
export function knowsRuns({ runs, otherRuns }: Figures, handler: string): boolean {
  return otherRuns === undefined || [...runs.keys()].some((placed) => byPlace(handler, placed) <= 0);
}
