import { byTime } from "../folder/load-folder.js";
import type { Capture } from "../model/capture.js";
import { orderItems, type ReplayOrder } from "./order-captures.js";

/** One planned request. */
export interface ReplayJob {
  capture: Capture;
  target: string;
  /** Number of the round of `times`, from 0. */
  round: number;
  /** Earliest time of sending, in milliseconds after the start. */
  dueMs: number;
}

export interface ReplayScheduleInput {
  captures: readonly Capture[];
  targetsOf: (capture: Capture) => readonly string[];
  order: ReplayOrder;
  seed: number;
  times: number;
  /** Speed of the captured gaps, such as 10 for ten times faster; undefined for none. */
  keepTiming: number | undefined;
  delayMs: number;
}

/**
 * Plans a replay. All captures are sent `times` times. A shuffle also mixes the rounds. With `keepTiming` the gaps
 * between requests are those between arrivals, in any order of the captures.
 */
export function scheduleReplay(input: ReplayScheduleInput): ReplayJob[] {
  const { order, seed, times, keepTiming, delayMs } = input;
  const captures = input.captures.toSorted(byTime);
  const rounds = Array.from({ length: times }, (_, round) => captures.map((capture) => ({ capture, round })));
  const dueOf = (place: number): number =>
    place * delayMs + (keepTiming === undefined ? 0 : arrival(captures, place) / keepTiming);
  return orderItems(rounds.flat(), order, seed).flatMap(({ capture, round }, place) =>
    input.targetsOf(capture).map((target) => ({ capture, round, target, dueMs: dueOf(place) })),
  );
}

/** Milliseconds from the first arrival to the one at this position. Further rounds follow at once. */
function arrival(captures: readonly Capture[], place: number): number {
  const timeOf = (index: number): number => Date.parse(captures[index]?.receivedAt ?? "");
  const span = timeOf(captures.length - 1) - timeOf(0);
  return Math.floor(place / captures.length) * span + timeOf(place % captures.length) - timeOf(0);
}
