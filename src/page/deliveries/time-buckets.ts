import { DAY, HOUR, MINUTE, SECOND } from "../../base/duration.js";
import type { CaptureSummary } from "../../capture/model/capture.js";
import type { EventWork } from "../../operator/inbox-rows.js";
import type { TimeRange } from "../state/time-range.js";
import { DELIVERY_OUTCOMES, deliveryOutcome, type DeliveryOutcome } from "./delivery-outcome.js";

/** The deliveries of one bar. */
export interface TimeBucket extends TimeRange {
  total: number;
  counts: Record<DeliveryOutcome, number>;
}

/** More bars would be too narrow to hit with the pointer. */
const MAX_BUCKETS = 60;

/** Fewer would be blocks, and not a course. */
const MIN_BUCKETS = 30;

const WIDTHS = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
];

/** What of a capture is counted. */
interface CountedDelivery {
  at: number;
  outcome: DeliveryOutcome;
  /** The work by which the outcome was found. */
  work: EventWork | undefined;
}

/** What the handlers made of a capture, if that is known. */
type FindWork = (capture: CaptureSummary) => EventWork | undefined;

/**
 * A changed capture, or changed work, is another object. With 10,000 captures, to read all again for each new one
 * costs a frame.
 */
const counted = new WeakMap<CaptureSummary, CountedDelivery>();

/** Counts deliveries by time and outcome, in equal parts of the time from the oldest to the newest, oldest first. */
export function groupByTime(captures: readonly CaptureSummary[], findWork: FindWork): TimeBucket[] {
  const deliveries = captures.map((capture) => readDelivery(capture, findWork(capture)));
  let [oldest, newest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { at } of deliveries) {
    if (at < oldest) oldest = at;
    if (at > newest) newest = at;
  }
  if (oldest > newest) return [];
  const width = bucketWidth(newest - oldest);
  // Bars of hours begin at full hours of the local clock.
  const offset = new Date(newest).getTimezoneOffset() * MINUTE;
  const floor = (at: number): number => Math.floor((at - offset) / width) * width + offset;
  const end = floor(newest) + width;
  const count = Math.max(MIN_BUCKETS, (end - floor(oldest)) / width);
  const start = end - count * width;
  const buckets = Array.from({ length: count }, (_, index) => emptyBucket(start + index * width, width));
  for (const { at, outcome } of deliveries) {
    const bucket = buckets[Math.floor((at - start) / width)];
    // A capture without a readable time has no place.
    if (bucket === undefined) continue;
    bucket.counts[outcome] += 1;
    bucket.total += 1;
  }
  return buckets;
}

function readDelivery(capture: CaptureSummary, work: EventWork | undefined): CountedDelivery {
  const known = counted.get(capture);
  if (known !== undefined && known.work === work) return known;
  const delivery = { at: Date.parse(capture.receivedAt), outcome: deliveryOutcome(capture, work), work };
  counted.set(capture, delivery);
  return delivery;
}

/** The shortest usual length that fits; whole days for long times. */
function bucketWidth(span: number): number {
  const least = span / (MAX_BUCKETS - 1);
  return WIDTHS.find((width) => width >= least) ?? Math.ceil(least / DAY) * DAY;
}

function emptyBucket(from: number, width: number): TimeBucket {
  const counts = Object.fromEntries(DELIVERY_OUTCOMES.map(({ name }) => [name, 0])) as TimeBucket["counts"];
  return { from, to: from + width, total: 0, counts };
}
