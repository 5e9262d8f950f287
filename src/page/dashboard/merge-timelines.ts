import { SECOND } from "../../base/duration.js";
import type { TimelineEntry } from "../../operator/timeline-entry.js";

/** Puts attempts before what came after them; each list keeps its order. */
export function mergeTimelines(
  attempts: readonly TimelineEntry[],
  timeline: readonly TimelineEntry[],
): TimelineEntry[] {
  const merged = [...timeline];
  // From the latest on, so that attempts of one time keep their order.
  for (const attempt of attempts.toReversed()) {
    const before = merged.findLastIndex((entry) => isEarlier(entry, attempt));
    merged.splice(before + 1, 0, attempt);
  }
  return merged;
}

/** One without a time stands before the next one that has one. */
function isEarlier({ kind, at }: TimelineEntry, attempt: TimelineEntry): boolean {
  if (at === null || attempt.at === null) return false;
  // The signature says the second; the attempt that it is of began in it.
  const latest = Date.parse(at) + (kind === "signed" ? SECOND - 1 : 0);
  return latest < Date.parse(attempt.at);
}
