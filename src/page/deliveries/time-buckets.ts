import { judgeAnswer } from "../../capture/model/answer.js";
import { DAY, HOUR, MINUTE, SECOND } from "../../base/duration.js";
import type { CaptureSummary } from "../../capture/model/capture.js";
import type { EventView } from "../../store/inbox-view.js";
import { isLate } from "../../protocol/limits.js";
import type { TimeRange } from "../state/search-terms.js";

/** What became of a delivery, in one word. */
type DeliveryOutcome = "accepted" | "duplicate" | "retrying" | "parked" | "dead" | "failed" | "not sent";

/** The outcomes as the chart stacks them, from the bottom. Striped: taken, and not done by the handlers. */
export const DELIVERY_OUTCOMES: readonly { name: DeliveryOutcome; tone: string; meaning: string }[] = [
  { name: "accepted", tone: "good", meaning: "answered 2xx" },
  { name: "duplicate", tone: "accent", meaning: "answered 2xx: the receiver had the event already" },
  { name: "retrying", tone: "warn striped", meaning: "answered 2xx; it has failed and runs again" },
  { name: "parked", tone: "warn", meaning: "answered 2xx, and kept without being understood" },
  { name: "dead", tone: "bad striped", meaning: "answered 2xx; a handler has given up" },
  { name: "failed", tone: "bad", meaning: "no answer, another one than 2xx, or an HTML page" },
  { name: "not sent", tone: "mute", meaning: "captured only" },
];

/** By the last answer, and by what the handlers made of the event since, where that is known. */
function deliveryOutcome(capture: CaptureSummary, work: EventView | undefined): DeliveryOutcome {
  const { status, outcome, error } = capture;
  if (status === null && error === null) return "not sent";
  if (capture.notReceived || judgeAnswer(capture) === "bad") return "failed";
  const word = work?.state;
  if (word === "dead" || word === "parked" || word === "retrying") return word;
  if (outcome === "duplicate") return outcome;
  // What was parked at first has been read again since, if its work is known.
  return outcome === "parked" && word === undefined ? outcome : "accepted";
}

/** The deliveries of one bar. */
export interface TimeBucket extends TimeRange {
  total: number;
  counts: Record<DeliveryOutcome, number>;
}

/** What the strip may show, the shortest first: the time up to now, in so many bars of the width. */
const WINDOWS = [
  { bars: 60, width: 15 * SECOND },
  { bars: 60, width: MINUTE },
  { bars: 60, width: 6 * MINUTE },
  { bars: 48, width: 30 * MINUTE },
  { bars: 56, width: 3 * HOUR },
  { bars: 60, width: 12 * HOUR },
];

/** What the handlers made of a capture, if that is known. */
type FindWork = (capture: CaptureSummary) => EventView | undefined;

/**
 * Counts deliveries by time and outcome, oldest first, in the shortest window up to `until` that has them all: 15
 * minutes, an hour, 6 hours, a day, 7 days, 30 days, or more days.
 */
export function groupByTime(captures: readonly CaptureSummary[], findWork: FindWork, until: number): TimeBucket[] {
  const deliveries = captures.map((capture) => ({
    at: Date.parse(capture.receivedAt),
    outcome: deliveryOutcome(capture, findWork(capture)),
  }));
  let [oldest, newest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { at } of deliveries) {
    if (at < oldest) oldest = at;
    if (at > newest) newest = at;
  }
  if (oldest > newest) return [];
  const last = Math.max(newest, until);
  // Bars of hours begin at full hours of the local clock.
  const offset = new Date(last).getTimezoneOffset() * MINUTE;
  const endFor = (width: number): number => (Math.floor((last - offset) / width) + 1) * width + offset;
  const days = Math.ceil((last - oldest) / (60 * DAY)) + 1;
  const { bars, width } = WINDOWS.find((each) => endFor(each.width) - each.bars * each.width <= oldest) ?? {
    bars: 60,
    width: days * DAY,
  };
  const start = endFor(width) - bars * width;
  const buckets = Array.from({ length: bars }, (_, index) => emptyBucket(start + index * width, width));
  for (const { at, outcome } of deliveries) {
    const bucket = buckets[Math.floor((at - start) / width)];
    // A capture without a readable time has no place.
    if (bucket === undefined) continue;
    bucket.counts[outcome] += 1;
    bucket.total += 1;
  }
  return buckets;
}

function emptyBucket(from: number, width: number): TimeBucket {
  const counts = Object.fromEntries(DELIVERY_OUTCOMES.map(({ name }) => [name, 0])) as TimeBucket["counts"];
  return { from, to: from + width, total: 0, counts };
}

/** How long the app took to answer, in milliseconds. */
export interface AnswerTimes {
  median: number;
  /** 95 of 100 answers took no longer. */
  p95: number;
  /** Answers that came after the service had given up. */
  late: number;
}

/** Of the last answer to each capture, also of one that came too late; undefined if there is none. */
export function measureAnswerTimes(captures: readonly CaptureSummary[]): AnswerTimes | undefined {
  const answers = captures.flatMap(({ ms, status }) => (ms !== null && (status !== null || isLate(ms)) ? [ms] : []));
  if (answers.length === 0) return undefined;
  const times = Float64Array.from(answers).toSorted();
  return { median: rankOf(times, 0.5), p95: rankOf(times, 0.95), late: answers.filter(isLate).length };
}

/** The smallest value that so large a share of all does not exceed. */
function rankOf(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
