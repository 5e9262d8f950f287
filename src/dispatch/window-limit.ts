import { type Clock, elapsedBy } from "../base/clock.js";
import { SECOND } from "../base/duration.js";

/** Most leased work that one handler has in memory; the store is the queue. */
const WINDOW = 512;
/** On a shared store, what waits here can begin within this time. */
const AHEAD_MS = SECOND / 4;
/** On a shared store, what has waited here for longer goes back: handlers have become slower. */
const PATIENCE_MS = 2 * SECOND;
/** A run counts for so much of the mean. */
const WEIGHT = 1 / 8;

/**
 * How much work one handler may have leased. Where one process works on a store, what it leases waits for no other one.
 * Where several do, one leases what its places can begin soon: what it leased beyond that would wait behind its slow
 * runs, while other processes have nothing to do.
 */
export class WindowLimit {
  readonly #places: number;
  /** Undefined where one process works on the store. */
  readonly #clock: Clock | undefined;
  /** Of the runs so far, in milliseconds; undefined before the first has ended. */
  #meanMs: number | undefined;

  constructor(places: number, clock: Clock | undefined) {
    this.#places = places;
    this.#clock = clock;
  }

  /** Most leases. */
  get max(): number {
    return this.#clock === undefined ? WINDOW : this.#places + this.#ahead;
  }

  /** Most leases that may wait here for their key. In a shared store they take the room of work that can begin. */
  get maxWaitingForKey(): number {
    return this.#clock === undefined ? Infinity : Math.floor(this.#ahead / 2);
  }

  /** With at most so many leases, a page is leased. */
  get refillAt(): number {
    if (this.#clock === undefined) return WINDOW / 2;
    return Math.min(this.max - 1, this.#places + Math.floor(this.#ahead / 2));
  }

  /** How long a lease may wait here; then another process should have it, and it does not begin. In milliseconds. */
  get patienceMs(): number {
    return this.#clock === undefined ? Infinity : PATIENCE_MS;
  }

  /** The present, for the methods below. */
  now(): number {
    return this.#clock === undefined ? 0 : elapsedBy(this.#clock);
  }

  /** A run has ended that began at that time. */
  noteRun(begunAt: number): void {
    const ms = this.now() - begunAt;
    this.#meanMs = this.#meanMs === undefined ? ms : this.#meanMs + (ms - this.#meanMs) * WEIGHT;
  }

  /** Leases have waited for too long behind a run that began at that time. */
  noteSlow(begunAt: number): void {
    this.#meanMs = Math.max(this.#meanMs ?? 0, this.now() - begunAt);
  }

  /** How many leases may wait for a place. */
  get #ahead(): number {
    const begun = this.#meanMs === undefined ? 1 : AHEAD_MS / Math.max(this.#meanMs, 1);
    return Math.max(0, Math.min(Math.floor(this.#places * begun), WINDOW - this.#places));
  }
}
