import PQueue from "p-queue";
import type { Timer } from "../base/clock.js";
import type { AnyEvent } from "../protocol/event.js";
import type { LeasePage, Store } from "../store/store.js";
import type { Lease, LeasedWork } from "../store/work.js";
import type { RegisteredHandler } from "./handler.js";
import { KeyedOrder } from "./keyed-order.js";

/** Most leased work that one handler holds in memory; the store is the queue. */
const WINDOW = 512;
const WINDOW_BYTES = 16 * 1024 * 1024;
const PAGE = 128;
const PAGE_BYTES = 4 * 1024 * 1024;

/** Work that is due and was not given waits for another queue's repeated suspect; the queue asks again after this. */
const REFUSED_WAIT_MS = 250;

/** Leased work whose event is read. */
export interface ReadyWork {
  work: LeasedWork;
  event: AnyEvent;
}

/** What a queue needs of its dispatcher. */
export interface HandlerQueueDeps {
  store: Store;
  now: () => number;
  leaseUntil: () => number;
  setTimer: (callback: () => void, delayMs: number) => Timer;
  /** Calls `run` when there is a place among all handlers. */
  inPlace: (run: () => Promise<void>) => Promise<unknown>;
  /** Runs the handler and settles the work; `onEnd` comes in between. Resolves when the work is settled or lost. */
  run: (ready: ReadyWork, handler: RegisteredHandler, onEnd: () => void) => Promise<void>;
  /** Reads the event again, or settles the work otherwise and returns undefined. */
  read: (work: LeasedWork) => Promise<AnyEvent | undefined>;
  /** One piece of work at a time, among all queues, may be one that two processes died in. */
  takeRepeated: () => boolean;
  giveRepeated: () => void;
  onError: (error: unknown) => void;
  concurrency: number;
}

/** A lease of this queue, and since when its work is due. */
interface HeldLease extends Lease {
  dueAt: number;
}

/**
 * Feeds one handler: holds a bounded window of leased work in a FIFO queue and asks the store for the next page when there is
 * room. Newly accepted work comes in leased only while nothing older waits in the store.
 */
export class HandlerQueue {
  readonly handler: RegisteredHandler;
  readonly #deps: HandlerQueueDeps;
  readonly #queue: PQueue;
  readonly #order: KeyedOrder<ReadyWork>;
  readonly #held = new Map<number, HeldLease>();
  readonly #begun = new Set<number>();
  #heldBytes = 0;
  #reserved = 0;
  #suspectsHeld = 0;
  #behind = true;
  #refilling = false;
  #open = false;
  #shut = false;
  #allArrived: (() => void) | undefined;
  #timer: Timer | undefined;
  #timerAt = Infinity;

  constructor(handler: RegisteredHandler, deps: HandlerQueueDeps) {
    this.handler = handler;
    this.#deps = deps;
    this.#queue = new PQueue({ concurrency: deps.concurrency });
    this.#order = new KeyedOrder((ready) => this.#enqueue(ready));
  }

  open(): void {
    this.#open = true;
    this.poke();
  }

  /** Begins no more work. Resolves with the leases of what has not begun, once none is on its way from the store. */
  async shut(): Promise<Lease[]> {
    this.#open = false;
    this.#shut = true;
    this.#timer?.cancel();
    this.#queue.clear();
    this.#order.clear();
    await new Promise<void>((resolve) => {
      this.#allArrived = resolve;
      this.#noteArrival();
    });
    const waiting = [...this.#held.values()].filter((lease) => !this.#begun.has(lease.token));
    for (const lease of waiting) this.#held.delete(lease.token);
    return waiting;
  }

  get leases(): Lease[] {
    return [...this.#held.values()];
  }

  /** Since when the work that waits longest here is due; undefined when all that is held has begun. */
  get waitingSince(): number | undefined {
    let since: number | undefined;
    for (const { token, dueAt } of this.#held.values()) {
      if (!this.#begun.has(token) && (since === undefined || dueAt < since)) since = dueAt;
    }
    return since;
  }

  /** True when newly accepted work may come in leased; each true must be followed by one `take` or `unreserve`. */
  reserve(): boolean {
    const hasRoom = this.#held.size + this.#reserved < WINDOW && this.#heldBytes < WINDOW_BYTES;
    if (!this.#open || this.#behind || !hasRoom) return false;
    this.#reserved += 1;
    return true;
  }

  unreserve(): void {
    this.#reserved -= 1;
    this.#noteArrival();
    this.#refillIfWanted();
  }

  /** Takes work that was leased as it was accepted. */
  take(ready: ReadyWork): void {
    this.#reserved -= 1;
    this.#hold(ready);
    this.#noteArrival();
  }

  /** There is, or may be, due work in the store. */
  poke(): void {
    this.#behind = true;
    void this.#refill();
  }

  /** Another process may have accepted work for this queue; a busy queue asks the store soon anyway. */
  lookUp(): void {
    if (this.#open && !this.#refilling && this.#wantsPage()) this.poke();
  }

  /**
   * Runs one piece of work that two processes died in, before the queue opens; false when none is due. The caller sees to it
   * that nothing runs beside it.
   */
  async runRepeated(): Promise<boolean> {
    const { store, now, leaseUntil } = this.#deps;
    const request = { handler: this.handler.name, now: now(), leaseUntil: leaseUntil(), maxBytes: PAGE_BYTES };
    const page = await store.lease({ ...request, limit: 0, suspectLimit: 0, allowRepeated: true });
    const work = page.work[0];
    if (work === undefined) return false;
    const event = await this.#deps.read(work);
    if (event === undefined) return true;
    if (this.#shut) {
      await store.release([work], now());
      return false;
    }
    const { seq, handler, token, dueAt } = work;
    this.#held.set(token, { seq, handler, token, dueAt });
    this.#begun.add(token);
    await this.#deps.run({ work, event }, this.handler, () => undefined);
    this.#held.delete(token);
    this.#begun.delete(token);
    return true;
  }

  /** Work of this queue is due at that time. */
  expectAt(dueAt: number): void {
    if (!this.#open || dueAt >= this.#timerAt) return;
    this.#timer?.cancel();
    this.#timerAt = dueAt;
    this.#timer = this.#deps.setTimer(() => {
      this.#timerAt = Infinity;
      this.poke();
    }, dueAt - this.#deps.now());
  }

  /** Forgets a lease that somebody else has now. */
  forget(lease: Lease): void {
    this.#held.delete(lease.token);
  }

  async #refill(): Promise<void> {
    if (this.#refilling) return;
    this.#refilling = true;
    try {
      while (this.#open && this.#behind && this.#wantsPage()) await this.#leasePage();
    } catch (error) {
      this.#deps.onError(error);
      this.expectAt(this.#deps.now() + 1_000);
    } finally {
      this.#refilling = false;
      this.#noteArrival();
    }
  }

  #noteArrival(): void {
    if (!this.#refilling && this.#reserved === 0) this.#allArrived?.();
  }

  /** Half a window at a time; and never beside suspects, which must be few when the process dies. */
  #wantsPage(): boolean {
    return (
      this.#held.size + this.#reserved <= WINDOW / 2 && this.#heldBytes < WINDOW_BYTES / 2 && this.#suspectsHeld === 0
    );
  }

  async #leasePage(): Promise<void> {
    const { store, now, leaseUntil } = this.#deps;
    const allowRepeated = this.#deps.takeRepeated();
    let holdsRepeated = false;
    try {
      // Cleared before the question: what is accepted while it is under way sets it again.
      this.#behind = false;
      const page = await store.lease({
        handler: this.handler.name,
        now: now(),
        leaseUntil: leaseUntil(),
        limit: Math.min(PAGE, WINDOW - this.#held.size),
        maxBytes: PAGE_BYTES,
        suspectLimit: this.#deps.concurrency,
        allowRepeated,
      });
      await this.#takePage(page);
      holdsRepeated = page.work.some((work) => work.crashes > 1);
    } finally {
      if (allowRepeated && !holdsRepeated) this.#deps.giveRepeated();
    }
  }

  async #takePage(page: LeasePage): Promise<void> {
    if (!this.#open) return this.#deps.store.release(page.work, this.#deps.now());
    if (page.work.length > 0) this.#behind = true;
    else if (page.nextDueAt !== undefined) this.expectAt(Math.max(page.nextDueAt, this.#deps.now() + REFUSED_WAIT_MS));
    let taken = 0;
    try {
      for (const work of page.work) {
        const event = await this.#deps.read(work);
        taken += 1;
        if (work.crashes > 0) this.#suspectsHeld += 1;
        if (event === undefined) this.#release(work);
        else this.#hold({ work, event });
      }
    } catch (error) {
      // Leases that nobody holds would run out, and their work be taken for that of a dead process.
      await this.#deps.store.release(page.work.slice(taken), this.#deps.now()).catch(this.#deps.onError);
      throw error;
    }
  }

  #hold(ready: ReadyWork): void {
    const { seq, handler, token, dueAt, body } = ready.work;
    this.#held.set(token, { seq, handler, token, dueAt });
    this.#heldBytes += body.byteLength;
    // Given back by shut(), as if it had not been leased.
    if (this.#shut) return;
    this.#order.add(ready, this.#keyOf(ready));
  }

  /** A key function that throws must not lose the event: it runs without a key, and its handler meets the same data. */
  #keyOf({ event }: ReadyWork): string | undefined {
    try {
      return this.handler.key?.(event);
    } catch (error) {
      this.#deps.onError(error);
      return undefined;
    }
  }

  #enqueue(ready: ReadyWork): void {
    void this.#queue.add(() => this.#deps.inPlace(() => this.#runToEnd(ready)));
  }

  /** Resolves when the handler has ended, which frees its place; the settlement may take longer. */
  #runToEnd(ready: ReadyWork): Promise<void> {
    const { token } = ready.work;
    if (this.#shut) return Promise.resolve();
    // Lost to somebody else while it waited for its place.
    if (!this.#held.has(token)) {
      this.#order.end(ready);
      this.#letGo(ready.work);
      return Promise.resolve();
    }
    this.#begun.add(token);
    return new Promise((resolve) => {
      const onEnd = (): void => {
        this.#order.end(ready);
        resolve();
      };
      void this.#deps.run(ready, this.handler, onEnd).then(() => this.#letGo(ready.work));
    });
  }

  #letGo(work: LeasedWork): void {
    this.#heldBytes -= work.body.byteLength;
    this.#release(work);
  }

  #release(work: LeasedWork): void {
    this.#held.delete(work.token);
    this.#begun.delete(work.token);
    if (work.crashes > 0) this.#suspectsHeld -= 1;
    if (work.crashes > 1) this.#deps.giveRepeated();
    this.#refillIfWanted();
  }

  #refillIfWanted(): void {
    if (this.#behind && !this.#refilling && this.#wantsPage()) void this.#refill();
  }
}
