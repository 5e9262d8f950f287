import { DAY } from "../base/duration.js";
import type { ValidationIssue } from "./check-input.js";

/** An event is at most this old, in milliseconds. See docs/service.md#contact-event-fields. */
const OLDEST_EVENT_MS = 90 * DAY;

/**
 * The rule that needs a clock: not in the future, and not more than 90 days old. `undefined` is allowed: the service
 * then uses the time of arrival. The schema checks the format. A value that is not a time passes here.
 */
export function checkOccurredAt(value: string | undefined, nowMs: number): ValidationIssue | undefined {
  if (value === undefined) return undefined;
  const ageMs = nowMs - Date.parse(value);
  const param = "occurredAt";
  if (ageMs < 0) return { code: "invalid_event", param, message: "Must not be in the future." };
  if (ageMs > OLDEST_EVENT_MS) return { code: "invalid_event", param, message: "Must not be more than 90 days old." };
  return undefined;
}
