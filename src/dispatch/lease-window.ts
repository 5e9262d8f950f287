import type { LeaseRequest } from "../store/store.js";
import type { Lease, LeasedWork } from "../store/work.js";
import type { AnyEvent } from "../protocol/event.js";
import type { RegisteredHandler } from "./handler.js";
import type { StoreAbsence } from "./store-absence.js";
import type { WindowLimit } from "./window-limit.js";

const WINDOW_BYTES = 16 * 1024 * 1024;
const PAGE = 128;
const PAGE_BYTES = 4 * 1024 * 1024;

/** A lease in memory, and what must be known of its work once event and body are released. */
export interface WindowLease extends Lease {
  eventId: string;
  attempt: number;
  /** Since when the work is due. */
  dueAt: number;
  bytes: number;
  /** Runs that died with their process. */
  crashes: number;
  hasBegun: boolean;
  /** When it was added and, once it has begun, when that was, by the window's limit. */
  since: number;
}

/** Leased work whose event is read. */
export interface ReadyWork {
  lease: WindowLease;
  work: LeasedWork;
  event: AnyEvent;
}

/**
 * The leases of one handler: a bounded window of what waits in the store. New work is leased as it is accepted, but
 * only while nothing older waits there.
 */
export class LeaseWindow {
  readonly #handler: RegisteredHandler;
  readonly #limit: WindowLimit;
  readonly #leases = new Set<WindowLease>();
  #bytes = 0;
  #reserved = 0;
  #crashed = 0;
  #running = 0;
  #isOpen = false;
  #isClosed = false;
  #isRefilling = false;
  /** No work begins, and none is leased; what is here and has not begun is stale. */
  isPaused = false;
  /** While the store is away, the same. */
  readonly absence: StoreAbsence;
  /** There is, or may be, due work in the store. */
  isBehind = true;
  /** Due work waits in the store until other work has settled that has its key. */
  waitsForKey = false;
  #noneArrives: (() => void) | undefined;
  #noneRuns: (() => void) | undefined;

  constructor(handler: RegisteredHandler, limit: WindowLimit, absence: StoreAbsence) {
    this.#handler = handler;
    this.#limit = limit;
    this.absence = absence;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** True while no work may begin, and none is to be leased. */
  get isHeld(): boolean {
    return this.isPaused || this.absence.isAway;
  }

  open(): void {
    this.#isOpen = !this.#isClosed;
  }

  /**
   * Lets no more work begin. Resolves with the leases of what has not begun, once no request to the store is pending.
   */
  async close(): Promise<Lease[]> {
    this.#isOpen = false;
    this.#isClosed = true;
    await new Promise<void>((resolve) => {
      this.#noneArrives = resolve;
      this.#noteArrival();
    });
    const waiting = [...this.#leases].filter(({ hasBegun }) => !hasBegun);
    for (const lease of waiting) this.#leases.delete(lease);
    return waiting;
  }

  /** True when no work is here and, as far as is known, none is due in the store. That of a paused handler waits. */
  get isIdle(): boolean {
    const isBehind = !this.isPaused && (this.isBehind || this.waitsForKey);
    return (
      this.#isOpen &&
      !this.absence.isAway &&
      !isBehind &&
      !this.#isRefilling &&
      this.#leases.size + this.#reserved === 0
    );
  }

  /** Resolves when all that has begun is settled. */
  async untilNoneRuns(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => (this.#noneRuns = resolve));
  }

  get leases(): Lease[] {
    return [...this.#leases];
  }

  /** Since when the work that waits longest here is due; undefined when all work here has begun. */
  get waitingSince(): number | undefined {
    let since: number | undefined;
    for (const { hasBegun, dueAt } of this.#leases) {
      if (!hasBegun && (since === undefined || dueAt < since)) since = dueAt;
    }
    return since;
  }

  /**
   * True when new work may be leased as it is accepted; each true must be followed by `addReserved` or `unreserve`.
   */
  reserve(): boolean {
    const hasRoom = this.#leases.size + this.#reserved < this.#limit.max && this.#bytes < WINDOW_BYTES;
    if (!this.#isOpen || this.isHeld || this.isBehind || !hasRoom) return false;
    this.#reserved += 1;
    return true;
  }

  unreserve(): void {
    this.#reserved -= 1;
    this.#noteArrival();
  }

  /** Takes work that was leased as it was accepted. */
  addReserved(work: LeasedWork): WindowLease {
    const lease = this.add(work);
    this.unreserve();
    return lease;
  }

  /** Takes leased work. It begins later, or is among those that `close` returns. */
  add(work: LeasedWork): WindowLease {
    const { seq, handler, token, eventId, attempt, dueAt, crashes, body } = work;
    const bytes = body.byteLength;
    const since = this.#limit.now();
    const lease = { seq, handler, token, eventId, attempt, dueAt, bytes, crashes, hasBegun: false, since };
    this.#leases.add(lease);
    this.#bytes += bytes;
    if (crashes > 0) this.#crashed += 1;
    return lease;
  }

  /** False for a lease that has a new holder, and once the window is closed, which returns those that it has. */
  has(lease: WindowLease): boolean {
    return !this.#isClosed && this.#leases.has(lease);
  }

  /**
   * False when the work must no longer begin: the handler is paused or without its store, the lease is not here, or
   * another process may have it by now.
   */
  mayBegin(lease: WindowLease): boolean {
    return !this.isHeld && this.has(lease) && this.#limit.now() - lease.since < this.#limit.trustMs;
  }

  /** As `mayBegin`; when it may, it has begun. */
  begin(lease: WindowLease): boolean {
    if (!this.mayBegin(lease)) return false;
    lease.hasBegun = true;
    lease.since = this.#limit.now();
    this.#running += 1;
    return true;
  }

  /** The work is settled, or its lease has a new holder. Ignores what `close` returns. */
  release(lease: WindowLease): void {
    if (!lease.hasBegun && this.#isClosed) return;
    this.#leases.delete(lease);
    this.#bytes -= lease.bytes;
    if (lease.crashes > 0) this.#crashed -= 1;
    if (!lease.hasBegun) return;
    // Its key may be free now.
    this.isBehind ||= this.waitsForKey;
    this.#limit.noteRun(lease.since);
    this.#running -= 1;
    if (this.#running === 0) this.#noneRuns?.();
  }

  /** Takes out the leases whose work no longer begins here: it has waited for too long, or the handler is held. */
  takeStale(): Lease[] {
    const now = this.#limit.now();
    const stale: Lease[] = [];
    let longestSince = now;
    for (const lease of this.#leases) {
      if (lease.hasBegun) longestSince = Math.min(longestSince, lease.since);
      else if (this.isHeld || now - lease.since > this.#limit.patienceMs) stale.push(lease);
    }
    for (const lease of stale) this.forget(lease);
    if (stale.length > 0 && !this.isHeld) this.#limit.noteSlow(longestSince);
    return stale;
  }

  /** The work has no lease any more, and waits in the store for its key. */
  leaveToStore(lease: Lease): void {
    this.forget(lease);
    this.waitsForKey = true;
  }

  /** True when one more lease may wait here for its key, beside so many. */
  mayWaitForKey(waiting: number): boolean {
    return waiting < this.#limit.maxWaitingForKey;
  }

  /** The lease has a new holder. */
  forget({ seq, token }: Lease): void {
    for (const lease of this.#leases) if (lease.seq === seq && lease.token === token) this.#leases.delete(lease);
  }

  /**
   * True when a page of the store should be leased: half a window at a time, and never while this window has work that
   * a process died in, of which only a few may run at a crash.
   */
  get hasRoomForPage(): boolean {
    const hasRoom = this.#leases.size + this.#reserved <= this.#limit.refillAt && this.#bytes < WINDOW_BYTES / 2;
    return this.#isOpen && !this.isHeld && hasRoom && this.#crashed === 0;
  }

  /** True when no page is being leased for this window, and there may be one to lease. */
  get wantsRefill(): boolean {
    return this.isBehind && !this.#isRefilling && this.hasRoomForPage;
  }

  set isRefilling(isRefilling: boolean) {
    this.#isRefilling = isRefilling;
    this.#noteArrival();
  }

  /** The next page: at most what there is room for. */
  get pageRequest(): Pick<LeaseRequest, "handler" | "limit" | "maxBytes" | "crashedLimit"> {
    const { name, concurrency } = this.#handler;
    return {
      handler: name,
      limit: Math.min(PAGE, this.#limit.max - this.#leases.size),
      maxBytes: PAGE_BYTES,
      crashedLimit: concurrency,
    };
  }

  #noteArrival(): void {
    if (!this.#isRefilling && this.#reserved === 0) this.#noneArrives?.();
  }
}
