import { DAY } from "#pigeonhole/base/duration.js";
import type { Figures } from "#pigeonhole/store/figures.js";
import type { TimeCounts } from "#pigeonhole/store/time-buckets.js";

/** Counts in twenty buckets, about a decade of times. */
const times = (most: number): TimeCounts =>
  Array.from({ length: 20 }, (_, place) => [20 + place, Math.round(most / (1 + (place - 8) ** 2))]).flat();

/** Every figure of a service with many handlers whose times are spread. */
export const busyFigures = (handlers: number): Figures => ({
  answers: { accepted: 1_234, duplicate: 123, parked: 12, unsigned: 3, overloaded: 456 },
  answerTimes: times(400),
  runs: new Map(
    Array.from({ length: handlers }, (_, place) => [
      `handler-of-something-${place}`,
      { done: times(300 - place), failed: [30, 2] },
    ]),
  ),
  gauges: {
    backlog: { depth: 1_234_567, oldestAgeMs: 7 * DAY },
    outbox: { depth: 123_456, oldestAgeMs: DAY },
    disk: { usedBytes: 123_456_789_012, freeBytes: 1_234_567_890_123 },
  },
});
