import type { CaptureSummary } from "../../capture/model/capture.js";
import { LIMITS } from "../../protocol/limits.js";

/** What took a time from `from` up to but not including `to`, in milliseconds. */
export interface TimesBin {
  from: number;
  to: number;
  done: number;
  failed: number;
}

/** How long the app took to answer, in milliseconds. */
export interface AnswerTimes {
  count: number;
  median: number;
  /** 95 of 100 answers took no longer. */
  p95: number;
  bins: TimesBin[];
}

/** Each about twice the one before, since times differ by powers; the service gives up after 5 s. */
const BOUNDS = [0, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, Number.POSITIVE_INFINITY];

/** Of the last answer to each capture, also of one that came too late; undefined if there is none. */
export function measureAnswerTimes(captures: readonly CaptureSummary[]): AnswerTimes | undefined {
  const isAnswer = (ms: number, status: number | null): boolean => status !== null || ms >= LIMITS.deliveryTimeoutMs;
  const answers = captures.flatMap(({ ms, status }) => (ms !== null && isAnswer(ms, status) ? [{ ms, status }] : []));
  const times = Float64Array.from(answers, ({ ms }) => ms);
  if (times.length === 0) return undefined;
  times.sort();
  const bins = BOUNDS.slice(1).map((to, index) => ({ from: BOUNDS[index] ?? 0, to, done: 0, failed: 0 }));
  for (const { ms, status } of answers) {
    const bin = bins.find(({ to }) => ms < to);
    if (bin !== undefined) bin[status === null ? "failed" : "done"] += 1;
  }
  return { count: times.length, median: rankOf(times, 0.5), p95: rankOf(times, 0.95), bins };
}

/** The smallest value that so large a share of all does not exceed. */
function rankOf(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
