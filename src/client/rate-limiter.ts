import type { Clock, Timer } from "../base/clock.js";
import { MINUTE } from "../base/duration.js";

interface Waiter {
  costMs: number;
  proceed: () => void;
}

/**
 * A token bucket with a FIFO queue. It starts empty, so that a process that crashes and starts again and again does not burst,
 * and is kept as time: each event costs the milliseconds in which its share of the rate comes in.
 */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #eventMs: number;
  readonly #mostMs: number;
  readonly #waiters: Waiter[] = [];
  #savedMs = 0;
  #pausedMs = 0;
  #seenAt: number;
  #timer: Timer | undefined;

  /** `burst`: how many events can be saved up while nothing is sent; no call may cost more. */
  constructor({ clock, perMinute, burst }: { clock: Clock; perMinute: number; burst: number }) {
    this.#clock = clock;
    this.#eventMs = MINUTE / perMinute;
    this.#mostMs = burst * this.#eventMs;
    this.#seenAt = clock.now();
  }

  /** Resolves when `events` may be sent, in the order of the calls; rejects with the signal's reason when it is aborted. */
  take(events: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason as Error);
        return;
      }
      const onAbort = (): void => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        reject(signal?.reason as Error);
        this.#serve();
      };
      const waiter: Waiter = {
        costMs: Math.min(events * this.#eventMs, this.#mostMs),
        proceed: () => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#waiters.push(waiter);
      this.#serve();
    });
  }

  /** The service said that it was too much: nothing is sent for `ms` milliseconds, and nothing is saved up. */
  pause(ms: number): void {
    this.#passTime();
    this.#savedMs = 0;
    this.#pausedMs = Math.max(this.#pausedMs, ms);
    this.#serve();
  }

  #serve(): void {
    this.#passTime();
    this.#timer?.cancel();
    this.#timer = undefined;
    for (let next = this.#waiters[0]; next !== undefined; next = this.#waiters[0]) {
      const missingMs = this.#pausedMs + next.costMs - this.#savedMs;
      if (missingMs > 0) {
        this.#timer = this.#clock.setTimer(() => this.#serve(), Math.ceil(missingMs));
        return;
      }
      this.#savedMs -= next.costMs;
      this.#waiters.shift();
      next.proceed();
    }
  }

  /** Books the time since the last look. A wall clock that was set back costs nothing and gives nothing. */
  #passTime(): void {
    const now = this.#clock.now();
    const passedMs = Math.max(0, now - this.#seenAt);
    this.#seenAt = now;
    const pausedMs = Math.min(this.#pausedMs, passedMs);
    this.#pausedMs -= pausedMs;
    this.#savedMs = Math.min(this.#mostMs, this.#savedMs + passedMs - pausedMs);
  }
}
