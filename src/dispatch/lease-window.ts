import { type Clock, elapsedBy } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import type { AnyEvent } from "../protocol/event.js";
import type { LeaseRequest } from "../store/store.js";
import type { Lease, LeasedWork, NewestKey } from "../store/work.js";
import { newestKeyOf } from "./newest-key.js";
import type { Batching, RegisteredHandler } from "./handler.js";
import { runsSoon } from "./run-rate.js";

/** Most leased work that one handler has in memory; the store is the queue. */
const WINDOW = 512;
/** On a shared store, what waits here can begin within this time. */
const AHEAD_MS = SECOND / 4;
/** On a shared store, what has waited here for longer goes back: handlers have become slower. */
const PATIENCE_MS = 2 * SECOND;
/** A run counts for so much of the mean. */
const WEIGHT = 1 / 8;
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
  key: string | undefined;
  /** Of work that counts only as the newest of its key. */
  newest: NewestKey | undefined;
  /** When it was added and, once it has begun, when that was, by the window's limit. */
  since: number;
  /** The lease has ended, or has a new holder. */
  isLost: boolean;
}

/** Leased work whose event is read. */
export interface ReadyWork {
  lease: WindowLease;
  work: LeasedWork;
  event: AnyEvent;
}

/**
 * The leased work of one handler: a bounded window of what waits in the store. New work is leased as it is accepted,
 * but only while nothing older waits there.
 */
export class LeaseWindow {
  readonly #handler: RegisteredHandler;
  readonly #limit: WindowLimit;
  readonly #keyOf: (event: AnyEvent, inboxId: string) => string | undefined;
  /** Most that may wait here for the handler's rate. */
  readonly #maxWaiting: number;
  /** In the order of arrival. An array, since old tables of a Map or Set would keep events in memory. */
  readonly #waiting: ReadyWork[] = [];
  /** Begun, and not settled yet. */
  readonly #begun = new Set<WindowLease>();
  /** Those of them that another one has taken along in its batch. */
  readonly #joined = new Set<WindowLease>();
  #bytes = 0;
  #reserved = 0;
  #crashed = 0;
  /** There is, or may be, due work in the store. */
  isBehind = true;
  /** Due work waits in the store until other work has settled that has its key. */
  waitsForKey = false;
  /** The store may make more work from stored events: nothing else of the handler is due. */
  hasHistory = false;
  /** A page is being leased. */
  isRefilling = false;
  /** No more work begins. */
  isClosed = false;

  constructor(
    handler: RegisteredHandler,
    limit: WindowLimit,
    keyOf: (event: AnyEvent, inboxId: string) => string | undefined,
  ) {
    this.#handler = handler;
    this.#limit = limit;
    this.#keyOf = keyOf;
    const { rate, batch } = handler;
    // As many batches, and the one that fills up meanwhile.
    const most = rate === undefined ? Infinity : runsSoon(rate);
    this.#maxWaiting = batch === undefined ? most : (most + 1) * batch.max;
  }

  /** What has not begun, in the order of arrival. */
  get waiting(): readonly ReadyWork[] {
    return this.#waiting;
  }

  /** True while work has begun that is not settled. */
  get hasBegun(): boolean {
    return this.#begun.size > 0;
  }

  /** True while work may still arrive that was asked for. */
  get isArriving(): boolean {
    return this.isRefilling || this.#reserved > 0;
  }

  /** All leases that are not lost. */
  get leases(): Lease[] {
    return [...this.#waiting.map(({ lease }) => lease), ...this.#begun].filter(({ isLost }) => !isLost);
  }

  /** Since when the work that waits longest here is due; undefined when all work here has begun. */
  get waitingSince(): number | undefined {
    return this.#waiting.length === 0 ? undefined : Math.min(...this.#waiting.map(({ lease }) => lease.dueAt));
  }

  /** True when new work may be leased as it is accepted; each true must be followed by one `unreserve`. */
  reserve(): boolean {
    const hasRoom = this.#size < this.#limit.max && this.#bytes < WINDOW_BYTES;
    if (this.isClosed || this.isBehind || !hasRoom || this.#roomByRate <= this.#reserved) return false;
    this.#reserved += 1;
    return true;
  }

  unreserve(): void {
    this.#reserved -= 1;
  }

  /** Takes leased work, which waits from now on. */
  add(work: LeasedWork, event: AnyEvent): WindowLease {
    const { seq, handler, token, eventId, attempt, dueAt, crashes, body } = work;
    const bytes = body.byteLength;
    const key = this.#keyOf(event, eventId);
    const since = this.#limit.now();
    const newest = newestKeyOf(this.#handler, key, event);
    const lease = { seq, handler, token, eventId, attempt, dueAt, bytes, crashes, key, newest, since, isLost: false };
    this.#waiting.push({ lease, work, event });
    this.#bytes += bytes;
    if (crashes > 0) this.#crashed += 1;
    return lease;
  }

  has(lease: WindowLease): boolean {
    return this.#begun.has(lease) || this.#waiting.some((ready) => ready.lease === lease);
  }

  /** Work that waits has begun: by itself, or as part of a batch that has begun. */
  begin(ready: ReadyWork, joins = false): void {
    if (this.#waiting[0] === ready) this.#waiting.shift();
    else this.#waiting.splice(this.#waiting.indexOf(ready), 1);
    ready.lease.since = this.#limit.now();
    this.#begun.add(ready.lease);
    if (joins) this.#joined.add(ready.lease);
  }

  /** What has begun is settled, or did not run after all. */
  release(lease: WindowLease, hasRun: boolean): void {
    this.#begun.delete(lease);
    this.#joined.delete(lease);
    this.#noteGone(lease);
    if (!hasRun) return;
    // Its key may be free now, and there is room for history.
    this.isBehind ||= this.waitsForKey || this.mayTakeHistory;
    this.#limit.noteRun(lease.since);
  }

  /** The lease has a new holder. */
  lose({ seq, token }: Lease): void {
    const isIt = (lease: WindowLease): boolean => lease.seq === seq && lease.token === token;
    for (const lease of this.#begun) if (isIt(lease)) lease.isLost = true;
    this.#take(({ lease }) => isIt(lease));
  }

  /** The work, which has begun, has no lease any more, and waits in the store for its key. */
  leaveToStore(lease: WindowLease): void {
    lease.isLost = true;
    this.waitsForKey = true;
  }

  /** The work, which has begun, has no lease any more: a newer event of its key has its place. */
  leaveSuperseded(lease: WindowLease): void {
    lease.isLost = true;
    // Its key is free, and there is room for history.
    this.isBehind ||= this.waitsForKey || this.mayTakeHistory;
  }

  /** Most work that may wait here for its key. */
  get maxWaitingForKey(): number {
    return this.#limit.maxWaitingForKey;
  }

  /** True when work has waited for too long to begin here: this process is slow, or was suspended. */
  isStale({ since }: WindowLease): boolean {
    return this.#limit.now() - since > this.#limit.patienceMs;
  }

  /** Takes out what must not begin here any more. */
  takeStale(): Lease[] {
    const stale = this.#take(({ lease }) => this.isStale(lease));
    if (stale.length > 0)
      this.#limit.noteSlow(Math.min(this.#limit.now(), ...[...this.#begun].map((run) => run.since)));
    return stale;
  }

  /** Takes out all that has not begun. */
  takeWaiting(): Lease[] {
    return this.#take(() => true);
  }

  /**
   * True when a page of the store may be leased: half a window at a time, and never while this window has work that a
   * process died in, of which only a few may run at a crash.
   */
  get hasRoomForPage(): boolean {
    const hasRoom = this.#size <= this.#limit.refillAt && this.#bytes < WINDOW_BYTES / 2;
    return (
      !this.isClosed && hasRoom && this.#crashed === 0 && this.#roomByRate - this.#reserved >= this.#maxWaiting / 2
    );
  }

  /** True when no work is here, and none is about to come. */
  get isEmpty(): boolean {
    return !this.isRefilling && this.#size === 0;
  }

  /** The next page: at most what there is room for. */
  get pageRequest(): Pick<LeaseRequest, "handler" | "limit" | "maxBytes" | "crashedLimit" | "history" | "newestFirst"> {
    const { name, concurrency, only } = this.#handler;
    const limit = Math.min(PAGE, this.#limit.max - this.#size + this.#reserved, this.#roomByRate);
    const history = Math.min(limit, this.#historyRoom);
    const crashedLimit = Math.min(concurrency, this.#maxWaiting);
    const newestFirst = only === "newest";
    return { handler: name, limit, maxBytes: PAGE_BYTES, crashedLimit, history, newestFirst };
  }

  /** True when there is history and room for it. */
  get mayTakeHistory(): boolean {
    return this.hasHistory && this.#historyRoom > 0;
  }

  /** Of history there is one run ahead for each place at most: what is new waits for no more of it. */
  get #historyRoom(): number {
    const { concurrency, batch } = this.#handler;
    const running = concurrency * (batch?.max ?? 1);
    return this.#size > running ? 0 : 2 * running - this.#size;
  }

  /** How much more may wait here for the rate of the handler; what waits for its key is not counted. */
  get #roomByRate(): number {
    if (this.#maxWaiting === Infinity) return Infinity;
    const busy = new Set([...this.#begun].map(({ key }) => key));
    const free = this.#waiting.filter(({ lease: { key } }) => key === undefined || !busy.has(key));
    return this.#maxWaiting - free.length;
  }

  /** A batch that runs counts as full: what it did not get may not wait here in its place. */
  get #size(): number {
    const runs = this.#begun.size - this.#joined.size;
    return this.#waiting.length + runs * (this.#handler.batch?.max ?? 1) + this.#reserved;
  }

  #take(isTaken: (ready: ReadyWork) => boolean): WindowLease[] {
    const taken = this.#waiting.filter(isTaken).map(({ lease }) => lease);
    for (const lease of taken) this.#noteGone(lease);
    const left = this.#waiting.filter(({ lease }) => !taken.includes(lease));
    if (taken.length > 0) this.#waiting.splice(0, Infinity, ...left);
    return taken;
  }

  #noteGone({ bytes, crashes }: WindowLease): void {
    this.#bytes -= bytes;
    if (crashes > 0) this.#crashed -= 1;
  }
}

/**
 * How much work one handler may have leased. Where one process works on a store, what it leases waits for no other one.
 * Where several do, one leases what its places can begin soon: what it leased beyond that would wait behind its slow
 * runs, while other processes have nothing to do.
 */
export class WindowLimit {
  readonly #places: number;
  /** Several processes work on the store. */
  readonly #isShared: boolean;
  /** Undefined where no time counts: one process works on the store, and events are handled one by one. */
  readonly #clock: Clock | undefined;
  /** Most events of a batch; 0 without batches. */
  readonly #batchSize: number;
  readonly #patienceMs: number;
  /** Of the runs so far, in milliseconds; undefined before the first has ended. */
  #meanMs: number | undefined;

  constructor(
    { places, isShared, batch }: { places: number; isShared: boolean; batch: Batching | undefined },
    clock: Clock,
  ) {
    this.#places = places;
    this.#isShared = isShared;
    this.#clock = isShared || batch !== undefined ? clock : undefined;
    this.#batchSize = batch?.max ?? 0;
    this.#patienceMs = PATIENCE_MS + (batch?.waitMs ?? 0);
  }

  /** Most leases. */
  get max(): number {
    return Math.max(this.#batches, this.#isShared ? this.#places + this.#ahead : WINDOW);
  }

  /** Most leases that may wait here for their key. In a shared store they take the room of work that can begin. */
  get maxWaitingForKey(): number {
    return this.#isShared ? Math.floor(this.#ahead / 2) : Infinity;
  }

  /** With at most so many leases, a page is leased. */
  get refillAt(): number {
    const half = this.#isShared ? this.#places + Math.floor(this.#ahead / 2) : WINDOW / 2;
    return Math.min(this.max - 1, Math.max(this.#batches, half));
  }

  /** How long a lease may wait here; then another process should have it, and it does not begin. In milliseconds. */
  get patienceMs(): number {
    return this.#isShared ? this.#patienceMs : Infinity;
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

  /** All batches that run, and one that waits, unless it would wait for too long. */
  get #batches(): number {
    const waits = (this.#meanMs ?? 0) < this.patienceMs ? 1 : 0;
    return (this.#places + waits) * this.#batchSize;
  }

  /** How many leases may wait for a place. */
  get #ahead(): number {
    const begun = this.#meanMs === undefined ? 1 : AHEAD_MS / Math.max(this.#meanMs, 1);
    return Math.max(0, Math.min(Math.floor(this.#places * begun), WINDOW - this.#places));
  }
}
