import { byTime } from "./load-folder.js";
import type { Capture } from "./capture.js";
import { orderItems, type ReplayOrder } from "./order-captures.js";

/** One sending to come. */
export interface ReplayJob {
  capture: Capture;
  target: string;
  /** Which of `times` it is, from 0. */
  round: number;
  /** Milliseconds after the start before which it is not sent. */
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
 * Lays out a replay. All captures are gone through `times` times; a shuffle mixes the rounds as well. With `keepTiming` the
 * gaps between arrivals are those between sendings, whichever capture comes in which place.
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

/** Milliseconds from the first arrival to that of this place; further rounds follow at once. */
function arrival(captures: readonly Capture[], place: number): number {
  const timeOf = (index: number): number => Date.parse(captures[index]?.receivedAt ?? "");
  const span = timeOf(captures.length - 1) - timeOf(0);
  return Math.floor(place / captures.length) * span + timeOf(place % captures.length) - timeOf(0);
}
