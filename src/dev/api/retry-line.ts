import { readRetryAfter } from "../../base/retry-wait.js";
import { shownAnswer } from "../../capture/model/answer-advice.js";
import type { Capture } from "../../capture/model/capture.js";
import { isRetryableStatus, RETRY_SCHEDULE } from "../../protocol/retry-schedule.js";
import { isHeld } from "../forward/held-tag.js";
import type { RetryLine } from "./page-api.js";

/** The deliveries of the capture's event, and when the service would send it again. `captures` are newest first. */
export function makeRetryLine(capture: Capture, captures: readonly Capture[]): RetryLine {
  const { id } = capture.event;
  const deliveries = id === null ? [capture] : captures.filter(({ event }) => event.id === id).toReversed();
  const past = deliveries.map((delivery) => {
    const forward = forwardOf(delivery);
    const answer = shownAnswer(forward ?? { status: null, headers: [] });
    return { captureId: delivery.id, receivedAt: delivery.receivedAt, ...answer, error: forward?.error ?? null };
  });
  const ofService = deliveries.filter(isOfService);
  const last = ofService.at(-1);
  if (last !== undefined) return { past, coming: comingAfter(last, ofService.length), notComing: 0 };
  return { past, coming: [], notComing: comingAfter(deliveries.at(-1) ?? capture, deliveries.length).length };
}

/** Whether its sender makes further attempts; what was sent by hand, or imported, has none. */
function isOfService({ source }: Capture): boolean {
  return source === "live" || source === "sandbox";
}

/** The attempt whose answer the sender got; a replay is none. */
function forwardOf({ attempts }: Capture) {
  return attempts.find(({ kind }) => kind === "forward");
}

/** The times of further attempts, without the random part of each wait; none if the sender was satisfied. */
function comingAfter(last: Capture, count: number): string[] {
  const forward = forwardOf(last);
  // A delivery that was held, now or at first, was answered 202 here.
  const wasHeld = isHeld(last) || last.attempts.some(({ kind }) => kind === "retry");
  if (forward === undefined || wasHeld || !isRetryableStatus(forward.status)) return [];
  const answeredAt = Date.parse(forward.at) + forward.ms;
  const retryAfter = forward.headers.find(([name]) => name.toLowerCase() === "retry-after")?.[1] ?? null;
  const stretchedMs = Math.min(readRetryAfter(retryAfter, answeredAt) ?? 0, RETRY_SCHEDULE.maxRetryAfterMs);
  const waits = RETRY_SCHEDULE.waitsMs
    .slice(count - 1)
    .map((waitMs, index) => (index === 0 ? Math.max(waitMs, stretchedMs) : waitMs));
  let at = answeredAt;
  return waits.map((waitMs) => new Date((at += waitMs)).toISOString());
}
