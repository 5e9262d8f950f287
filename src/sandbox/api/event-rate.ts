import { MINUTE, SECOND } from "../../base/duration.js";
import { SandboxApiError } from "./api-handlers.js";

interface Taken {
  atMs: number;
  events: number;
}

/**
 * The limit of events a minute, for each key. It holds for every window of 60 s, which is the strictest reading: the
 * service's window is not documented. A call that would exceed the limit counts nothing.
 */
export class EventRate {
  readonly #perMinute: number;
  readonly #taken = new Map<string, Taken[]>();

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** Counts the events of a call; throws 429 `event_rate_limited` with Retry-After if they are too many. */
  take(keyId: string, events: number, nowMs: number): void {
    // Entries in the future were counted before the clock was set back. They must not block the key for hours.
    const recent = (this.#taken.get(keyId) ?? []).filter(({ atMs }) => atMs > nowMs - MINUTE && atMs <= nowMs);
    this.#taken.set(keyId, recent);
    let excess = recent.reduce((sum, taken) => sum + taken.events, events) - this.#perMinute;
    if (excess <= 0) {
      recent.push({ atMs: nowMs, events });
      return;
    }
    let freeAtMs = nowMs + MINUTE;
    for (const taken of recent) {
      excess -= taken.events;
      freeAtMs = taken.atMs + MINUTE;
      if (excess <= 0) break;
    }
    throw rateLimited(String(Math.ceil((freeAtMs - nowMs) / SECOND)));
  }

  /** Forgets the counted events. */
  reset(): void {
    this.#taken.clear();
  }
}

function rateLimited(retryAfter: string): SandboxApiError {
  const message = "Too many events for this key in a minute; nothing was stored.";
  return new SandboxApiError({
    code: "event_rate_limited",
    message,
    headers: { "retry-after": retryAfter },
  });
}
