import { type Clock, elapsedBy } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { type RegisteredHandler, runsSoon } from "./handler.js";

/** So much leased work one handler has in memory, unless more of it runs; the store is the queue. */
const WINDOW = 512;
const WINDOW_BYTES = 16 * 1024 * 1024;
/** Most work that is leased at once. */
const PAGE = 128;
/** On a shared store, what waits here can begin within this time. */
const AHEAD_MS = SECOND / 4;
/** On a shared store, what has waited here for longer goes back: handlers have become slower. */
const PATIENCE_MS = 2 * SECOND;
/** A run counts for so much of the mean. */
const WEIGHT = 1 / 8;

/** What of a handler's work is here, and is about to come. */
export interface WindowLoad {
  /** Events that wait and events that run; a batch that runs counts as full. */
  readonly size: number;
  /** Of what waits, what does not wait for its key. */
  readonly free: number;
  readonly bytes: number;
}

/** What a window is made for. */
export interface WindowPlaces {
  /** Most runs of the handler at once. */
  places: number;
  /** Several processes work on the store. */
  isShared: boolean;
  clock: Clock;
}

/**
 * How much more work of one handler may be leased: what can run at once and what may wait behind it, less what is here.
 * Where one process works on a store, what it leases waits for no other one. Where several do, one leases what its
 * places can begin soon: what it leased beyond that would wait behind its slow runs, while other processes have nothing
 * to do.
 */
export class WindowRoom {
  readonly #places: number;
  readonly #isShared: boolean;
  /** Undefined where no time counts: one process works on the store, and events are handled one by one. */
  readonly #clock: Clock | undefined;
  /** Most events of a batch; 0 without batches. */
  readonly #batchSize: number;
  /** Most events that run at once. */
  readonly #running: number;
  /** Most that may wait for the handler's rate. */
  readonly #byRate: number;
  /** How long a lease may wait here; then another process should have it, and it does not begin. In milliseconds. */
  readonly #patienceMs: number;
  /** Of the runs so far, in milliseconds; undefined before the first has ended. */
  #meanMs: number | undefined;

  constructor({ batch, rate }: Pick<RegisteredHandler, "batch" | "rate">, { places, isShared, clock }: WindowPlaces) {
    this.#places = places;
    this.#isShared = isShared;
    this.#clock = isShared || batch !== undefined ? clock : undefined;
    this.#batchSize = batch?.max ?? 0;
    this.#running = places * (batch?.max ?? 1);
    const soon = rate === undefined ? Infinity : runsSoon(rate);
    // As many batches, and the one that fills up meanwhile.
    this.#byRate = batch === undefined ? soon : (soon + 1) * batch.max;
    this.#patienceMs = isShared ? PATIENCE_MS + (batch?.waitMs ?? 0) : Infinity;
  }

  /** For so many more leases there is room; for none if it is not positive. `ahead`: so many may wait. */
  left(load: WindowLoad, ahead = this.#ahead): number {
    if (load.bytes >= WINDOW_BYTES) return 0;
    const left = this.#running + ahead - load.size;
    return this.#byRate === Infinity ? left : Math.min(left, this.#byRate - load.free);
  }

  /** How much a page may bring: nothing while less than half of what may wait is missing. */
  forPage(load: WindowLoad): number {
    return Math.min(PAGE, this.#enough(load, this.#ahead));
  }

  /** How much history may come: one run waits for each place at most, so that what is new waits for no more. */
  forHistory(load: WindowLoad): number {
    return this.#enough(load, Math.min(this.#ahead, this.#running));
  }

  /** Most work that a process died in. */
  get forCrashed(): number {
    return Math.min(this.#places, this.#byRate);
  }

  /** Most work that may wait here for its key. In a shared store it takes the room of work that can begin. */
  get forKey(): number {
    return this.#isShared ? Math.floor(this.#ahead / 2) : Infinity;
  }

  /** The present, for the methods below. */
  now(): number {
    return this.#clock === undefined ? 0 : elapsedBy(this.#clock);
  }

  /** True when work has waited for too long to begin here: this process is slow, or was suspended. */
  isStale({ since }: { since: number }): boolean {
    return this.now() - since > this.#patienceMs;
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

  #enough(load: WindowLoad, ahead: number): number {
    const left = this.left(load, ahead);
    return left >= Math.min(ahead, this.#byRate) / 2 ? Math.max(0, left) : 0;
  }

  /** How many leases may wait behind those that run. */
  get #ahead(): number {
    const most = Math.max(WINDOW - this.#running, this.#running);
    if (!this.#isShared) return most;
    const meanMs = this.#meanMs ?? AHEAD_MS;
    const soon = Math.floor((this.#places * AHEAD_MS) / Math.max(meanMs, 1));
    // At least the next batch, unless it would wait for too long.
    return Math.min(most, Math.max(soon, meanMs < this.#patienceMs ? this.#batchSize : 0));
  }
}
