import { MINUTE } from "../../base/duration.js";
import { SlidingLimit } from "../api/sliding-limit.js";

/**
 * The limit of events a minute, for each key. It holds for every window of 60 s, which is the strictest reading: the
 * service's window is not documented. What would exceed it is 429 `event_rate_limited` with Retry-After.
 */
export class EventRate extends SlidingLimit {
  constructor(perMinute: number) {
    const message = "Too many events for this key in a minute; nothing was stored.";
    super({ max: perMinute, windowMs: MINUTE, code: "event_rate_limited", message });
  }
}
