import { SECOND } from "../../base/duration.js";
import type { ApiErrorCode } from "../../contract/api-error-codes.js";
import { SandboxApiError } from "./api-handlers.js";

export interface SlidingLimitOptions {
  /** Most of everything that one caller takes in any window of this length. */
  max: number;
  windowMs: number;
  /** The refusal of what would be too many, which says the seconds until it is not. */
  code: ApiErrorCode;
  message: string;
  /** True: what is refused counts too. @default false */
  countsRefused?: boolean;
}

/** A limit that holds for every window of its length. */
export class SlidingLimit {
  readonly #options: SlidingLimitOptions;
  readonly #taken = new Map<string, { atMs: number; count: number }[]>();

  constructor(options: SlidingLimitOptions) {
    this.#options = options;
  }

  /** Counts what a caller takes; throws the refusal if it is too much. */
  take(caller: string, count: number, nowMs: number): void {
    const { max, windowMs, code, message, countsRefused = false } = this.#options;
    // Entries in the future were counted before the clock was set back. They must not block the caller for hours.
    const recent = (this.#taken.get(caller) ?? []).filter(({ atMs }) => atMs > nowMs - windowMs && atMs <= nowMs);
    this.#taken.set(caller, recent);
    let excess = recent.reduce((sum, taken) => sum + taken.count, count) - max;
    if (excess <= 0 || countsRefused) recent.push({ atMs: nowMs, count });
    if (excess <= 0) return;
    if (countsRefused) excess += count;
    let freeAtMs = nowMs + windowMs;
    for (const taken of recent) {
      excess -= taken.count;
      freeAtMs = taken.atMs + windowMs;
      if (excess <= 0) break;
    }
    const retryAfter = String(Math.ceil((freeAtMs - nowMs) / SECOND));
    throw new SandboxApiError({ code, message, headers: { "retry-after": retryAfter } });
  }

  /** Forgets what was taken. */
  reset(): void {
    this.#taken.clear();
  }
}
