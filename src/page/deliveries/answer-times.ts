import type { CaptureSummary } from "../../capture/model/capture.js";
import { LIMITS } from "../../protocol/limits.js";

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
  const isLate = (ms: number): boolean => ms >= LIMITS.deliveryTimeoutMs;
  const answers = captures.flatMap(({ ms, status }) => (ms !== null && (status !== null || isLate(ms)) ? [ms] : []));
  if (answers.length === 0) return undefined;
  const times = Float64Array.from(answers).toSorted();
  return { median: rankOf(times, 0.5), p95: rankOf(times, 0.95), late: answers.filter(isLate).length };
}

/** The smallest value that so large a share of all does not exceed. */
function rankOf(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
