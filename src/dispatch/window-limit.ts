import { type Clock, elapsedBy } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { TAKEN_OVER_AFTER_MS } from "../store/work-state.js";

/** Most leased work that one handler has in memory; the store is the queue. */
const WINDOW = 512;
/** On a shared store, what waits here can begin within this time. */
const AHEAD_MS = SECOND / 4;
/** On a shared store, what has waited here for longer goes back: handlers have become slower. */
const PATIENCE_MS = 2 * SECOND;
/** Well before others may have it. */
const TRUST_MS = TAKEN_OVER_AFTER_MS - 5 * SECOND;
/** A run counts for so much of the mean. */
const WEIGHT = 1 / 8;

/** How much work one handler may have leased. */
export interface WindowLimit {
  /** Most leases. */
  readonly max: number;
  /** Most leases that may wait here until another one that is here has settled, which has their key. */
  readonly maxWaitingForKey: number;
  /** With at most so many leases, a page is leased. */
  readonly refillAt: number;
  /** How long a lease may wait here before another process should have it, in milliseconds. */
  readonly patienceMs: number;
  /** After this a lease that waits here is not trusted: this process was suspended, or is without its store. */
  readonly trustMs: number;
  /** The present, for the methods below. */
  now(): number;
  /** A run has ended that began at that time. */
  noteRun(begunAt: number): void;
  /** Leases have waited for too long behind a run that began at that time. */
  noteSlow(begunAt: number): void;
}

/** Where one process works on a store, what it leases waits for no other one. */
export const LONE_LIMIT: WindowLimit = {
  max: WINDOW,
  maxWaitingForKey: Infinity,
  refillAt: WINDOW / 2,
  patienceMs: Infinity,
  trustMs: Infinity,
  now: () => 0,
  noteRun: () => undefined,
  noteSlow: () => undefined,
};

/**
 * Where several processes work on a store, one leases what its places can begin soon: what it leased beyond that would
 * wait behind its slow runs, while other processes have nothing to do.
 */
export class SharedLimit implements WindowLimit {
  readonly patienceMs = PATIENCE_MS;
  readonly trustMs = TRUST_MS;
  readonly #places: number;
  readonly #clock: Clock;
  /** Of the runs so far, in milliseconds; undefined before the first has ended. */
  #meanMs: number | undefined;

  constructor(places: number, clock: Clock) {
    this.#places = places;
    this.#clock = clock;
  }

  get max(): number {
    return this.#places + this.#ahead;
  }

  /** The others of a key wait in the store: here they would have the room of work that can begin. */
  get maxWaitingForKey(): number {
    return Math.floor(this.#ahead / 2);
  }

  get refillAt(): number {
    return Math.min(this.max - 1, this.#places + Math.floor(this.#ahead / 2));
  }

  now(): number {
    return elapsedBy(this.#clock);
  }

  noteRun(begunAt: number): void {
    const ms = this.now() - begunAt;
    this.#meanMs = this.#meanMs === undefined ? ms : this.#meanMs + (ms - this.#meanMs) * WEIGHT;
  }

  noteSlow(begunAt: number): void {
    this.#meanMs = Math.max(this.#meanMs ?? 0, this.now() - begunAt);
  }

  /** How many leases may wait for a place. */
  get #ahead(): number {
    const begun = this.#meanMs === undefined ? 1 : AHEAD_MS / Math.max(this.#meanMs, 1);
    return Math.max(0, Math.min(Math.floor(this.#places * begun), WINDOW - this.#places));
  }
}
