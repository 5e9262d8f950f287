import type { ProcessStatus } from "./figures.js";
import type { EventPage } from "./inbox-view.js";

/**
 * When a delivery was last stored, in milliseconds since 1970; undefined when none was. Takes what all processes said,
 * also those that have ended, and a page with the newest event: a process may end before it says what it has stored,
 * and retention drops events.
 */
export function lastAccepted(
  statuses: readonly Pick<ProcessStatus, "lastAcceptedAt">[],
  newest: EventPage | undefined,
): number | undefined {
  const received = newest?.items[0]?.receivedAt;
  const times = [
    received === undefined ? undefined : Date.parse(received),
    ...statuses.map(({ lastAcceptedAt }) => lastAcceptedAt),
  ];
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}
