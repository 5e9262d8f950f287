import type { Clock, Timer } from "../base/clock.js";
import { MINUTE } from "../base/duration.js";

/** A call that was sent. `at` is on the limiter's own time, which never goes back; milliseconds. */
interface Sent {
  at: number;
  events: number;
  /** The next call. A linked list, since removing the first item of an array costs its length. */
  next: Sent | undefined;
}

interface Waiter {
  events: number;
  costMs: number;
  proceed: () => void;
}

/**
 * A token bucket with a FIFO queue. It starts empty, so that a process in a crash loop does not burst. It is kept as
 * time: each event costs the milliseconds in which one event of the rate is earned. Saved events may be sent at once,
 * but no minute exceeds the rate.
 */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #eventMs: number;
  readonly #maxMs: number;
  readonly #waiters: Waiter[] = [];
  readonly #perMinute: number;
  #oldest: Sent | undefined;
  #newest: Sent | undefined;
  #lastMinuteEvents = 0;
  #savedMs = 0;
  #pausedMs = 0;
  #elapsedMs = 0;
  #seenAt: number;
  #timer: Timer | undefined;

  /** `burst`: how many events can be saved up while nothing is sent; no call may cost more. */
  constructor({ clock, perMinute, burst }: { clock: Clock; perMinute: number; burst: number }) {
    this.#clock = clock;
    this.#perMinute = perMinute;
    this.#eventMs = MINUTE / perMinute;
    this.#maxMs = burst * this.#eventMs;
    this.#seenAt = clock.now();
  }

  /**
   * Resolves when `events` may be sent, in the order of the calls; rejects with the signal's reason when it is aborted.
   */
  take(events: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason as Error);
        return;
      }
      const onAbort = (): void => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        reject(signal?.reason as Error);
        // Later, when all waiters of the signal have left the queue: none of them may use what is saved.
        queueMicrotask(() => this.#serve());
      };
      const waiter: Waiter = {
        events,
        costMs: Math.min(events * this.#eventMs, this.#maxMs),
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

  /** The service answered 429: nothing is sent for `ms` milliseconds, and nothing is saved up. */
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
      const missingMs = Math.max(this.#pausedMs + next.costMs - this.#savedMs, this.#findRoomInMs(next.events));
      if (missingMs > 0) {
        this.#timer = this.#clock.setTimer(() => this.#serve(), Math.ceil(missingMs));
        return;
      }
      this.#savedMs -= next.costMs;
      this.#remember({ at: this.#elapsedMs, events: next.events, next: undefined });
      this.#waiters.shift();
      next.proceed();
    }
  }

  #remember(sent: Sent): void {
    this.#lastMinuteEvents += sent.events;
    if (this.#newest === undefined) this.#oldest = sent;
    else this.#newest.next = sent;
    this.#newest = sent;
  }

  /**
   * Milliseconds until enough of the calls of the last minute are more than a minute old. A call larger than the rate
   * gets a minute alone.
   */
  #findRoomInMs(events: number): number {
    let sum = this.#lastMinuteEvents + events;
    let roomInMs = 0;
    for (let sent = this.#oldest; sent !== undefined && sum > this.#perMinute; sent = sent.next) {
      sum -= sent.events;
      roomInMs = sent.at + MINUTE - this.#elapsedMs;
    }
    return roomInMs;
  }

  /** Adds the time since the last call. A wall clock that was set back adds and removes nothing. */
  #passTime(): void {
    const now = this.#clock.now();
    const passedMs = Math.max(0, now - this.#seenAt);
    this.#seenAt = now;
    const pausedMs = Math.min(this.#pausedMs, passedMs);
    this.#pausedMs -= pausedMs;
    this.#savedMs = Math.min(this.#maxMs, this.#savedMs + passedMs - pausedMs);
    this.#elapsedMs += passedMs;
    while (this.#oldest !== undefined && this.#oldest.at + MINUTE <= this.#elapsedMs) {
      this.#lastMinuteEvents -= this.#oldest.events;
      this.#oldest = this.#oldest.next;
    }
    if (this.#oldest === undefined) this.#newest = undefined;
  }
}
