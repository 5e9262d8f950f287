import { DAY } from "#pigeonhole/base/duration.js";
import type { Figures } from "#pigeonhole/store/figures.js";

/** Every figure of a service with many handlers whose times are spread. */
export const busyFigures = (handlers: number): Figures => ({
  answers: { accepted: 123_456, duplicate: 1_234, parked: 12, unsigned: 3, overloaded: 45_678 },
  answerTimes: [12_345, 6_789, 4_567, 1_234, 456, 78, 9, 1],
  runs: new Map(
    Array.from({ length: handlers }, (_, place) => [
      `handler-of-something-${place}`,
      { done: 12_345 - place, failed: 67, times: [0, 0, 123, 4_567, 8_910, 111, 21, 3] },
    ]),
  ),
  otherRuns: undefined,
  gauges: {
    backlog: { depth: 1_234_567, oldestAgeMs: 7 * DAY },
    outbox: { depth: 123_456, oldestAgeMs: DAY },
    disk: { usedBytes: 123_456_789_012, freeBytes: 1_234_567_890_123 },
  },
});
