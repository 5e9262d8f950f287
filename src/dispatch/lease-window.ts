import { type Clock, elapsedBy } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import type { Logger } from "../base/logger.js";
import type { AnyEvent } from "../protocol/event.js";
import type { LeasePage, LeaseRequest } from "../store/store.js";
import type { Lease, LeasedWork, NewestKey } from "../store/work.js";
import type { ReadyWork, WindowLease } from "./gate.js";
import { type RegisteredHandler, readKey, runsSoon } from "./handler.js";

/** So much leased work one handler has in memory, unless more of it runs; the store is the queue. */
const WINDOW = 512;
const WINDOW_BYTES = 16 * 1024 * 1024;
/** Most work that is leased at once. */
const PAGE = 128;
const PAGE_BYTES = 4 * 1024 * 1024;
/** On a shared store, what waits here can begin within this time. */
const AHEAD_MS = SECOND / 4;
/** On a shared store, what has waited here for longer goes back: handlers have become slower. */
const PATIENCE_MS = 2 * SECOND;
/** A run counts for so much of the mean. */
const WEIGHT = 1 / 8;

/** What a window is made for. */
export interface LeaseWindowDeps {
  /** Most runs of the handler at once. */
  places: number;
  /** Several processes work on the store. */
  isShared: boolean;
  clock: Clock;
  logger: Logger;
}

/**
 * The leased work of one handler: a bounded window of what waits in the store. New work is leased as it is accepted,
 * but only while nothing older waits there. Where one process works on a store, what it leases waits for no other one.
 * Where several do, one leases what its places can begin soon: what it leased beyond that would wait behind its slow
 * runs, while other processes have nothing to do.
 */
export class LeaseWindow {
  readonly #handler: RegisteredHandler;
  readonly #deps: LeaseWindowDeps;
  /** Most events that run at once. */
  readonly #running: number;
  /** Most that may wait for the handler's rate. */
  readonly #byRate: number;
  /** In the order of arrival. An array, since old tables of a Map or Set would keep events in memory. */
  readonly #waiting: ReadyWork[] = [];
  /** Begun, and not settled yet. */
  readonly #begun = new Set<WindowLease>();
  /** Those of them that another one has taken along in its batch. */
  readonly #joined = new Set<WindowLease>();
  #bytes = 0;
  #reserved = 0;
  #crashed = 0;
  /** Of the runs so far, in milliseconds; begins so that as much waits as can run. */
  #meanMs = AHEAD_MS;
  /** There is, or may be, due work in the store. */
  isBehind = true;
  /** The store may have more once a run here has ended: work that waits for its key, or history to make work of. */
  mayHaveMore = false;
  /** A page is being leased. */
  isRefilling = false;
  /** No more work begins. */
  isClosed = false;

  constructor(handler: RegisteredHandler, deps: LeaseWindowDeps) {
    const { batch, rate } = handler;
    this.#handler = handler;
    this.#deps = deps;
    this.#running = deps.places * (batch?.max ?? 1);
    const soon = rate === undefined ? Infinity : runsSoon(rate);
    // As many batches, and the one that fills up meanwhile.
    this.#byRate = batch === undefined ? soon : (soon + 1) * batch.max;
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

  /** True when new work may be leased as it is accepted; each true must be followed by one `unreserve`. */
  reserve(): boolean {
    if (this.isClosed || this.isBehind || this.#left(this.#ahead) <= 0) return false;
    this.#reserved += 1;
    return true;
  }

  unreserve(): void {
    this.#reserved -= 1;
  }

  /** Takes leased work, which waits from now on. `known`: what was read when the event was accepted. */
  add(work: LeasedWork, event: AnyEvent, known?: NewestKey): WindowLease {
    const { seq, handler, token, eventId, attempt, dueAt, crashes, body } = work;
    const bytes = body.byteLength;
    const read = { event, inboxId: eventId, logger: this.#deps.logger };
    const { key, newest } = known === undefined ? readKey(this.#handler, read) : { key: known.key, newest: known };
    const since = this.#now;
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
    const { lease } = ready;
    lease.since = this.#now;
    this.#begun.add(lease);
    if (joins) this.#joined.add(lease);
  }

  /** What has begun is settled, or did not run after all. */
  release(lease: WindowLease, hasRun: boolean): void {
    this.#begun.delete(lease);
    this.#joined.delete(lease);
    this.#noteGone(lease);
    if (!hasRun) return;
    this.isBehind ||= this.mayHaveMore;
    this.#meanMs += (this.#now - lease.since - this.#meanMs) * WEIGHT;
  }

  /** The lease has a new holder. */
  lose({ seq, token }: Lease): void {
    const isIt = (lease: WindowLease): boolean => lease.seq === seq && lease.token === token;
    for (const lease of this.#begun) if (isIt(lease)) lease.isLost = true;
    this.#take(({ lease }) => isIt(lease));
  }

  /** The work, which has begun, has no lease any more: it waits in the store for its key, or is superseded. */
  leave(lease: WindowLease, { waitsForKey }: { waitsForKey: boolean }): void {
    lease.isLost = true;
    if (waitsForKey) this.mayHaveMore = true;
    else this.isBehind ||= this.mayHaveMore;
  }

  /** True when work has waited for too long to begin here: this process is slow, or was suspended. */
  isStale({ since }: WindowLease): boolean {
    return this.#now - since > this.#patienceMs;
  }

  /** Takes out what must not begin here any more. */
  takeStale(): Lease[] {
    const stale = this.#take(({ lease }) => this.isStale(lease));
    const [oldest] = this.#begun;
    // Runs that have not ended yet say how long they take at least.
    const oldestMs = oldest === undefined ? 0 : this.#now - oldest.since;
    if (stale.length > 0) this.#meanMs = Math.max(this.#meanMs, this.#patienceMs, oldestMs);
    return stale;
  }

  /** Takes out all that has not begun. */
  takeWaiting(): Lease[] {
    return this.#take(() => true);
  }

  /** A page has come that is about to be read. */
  notePage({ work, hasHistory, waitsForKey }: LeasePage): void {
    // Older events of a key do not run once the newest has.
    if (this.#isNewestFirst) work.reverse();
    this.mayHaveMore = hasHistory === true || waitsForKey === true;
    this.isBehind ||= work.length > 0 || (hasHistory === true && this.#roomForHistory > 0);
  }

  /** How much a page of the store may bring. Of work that a process died in, only a few pieces may run at a crash. */
  get roomForPage(): number {
    return this.isClosed || this.#crashed > 0 ? 0 : Math.min(PAGE, this.#enough(this.#ahead));
  }

  /** The next page: at most what there is room for. */
  get pageRequest(): Omit<LeaseRequest, "now" | "leaseUntil" | "allowCrashLooping"> {
    const limit = this.roomForPage;
    return {
      handler: this.#handler.name,
      limit,
      maxBytes: PAGE_BYTES,
      crashedLimit: Math.min(this.#deps.places, this.#byRate),
      history: Math.min(limit, this.#roomForHistory),
      newestFirst: this.#isNewestFirst,
    };
  }

  /** Most work that may wait here for its key. In a shared store it takes the room of work that can begin. */
  get roomForKey(): number {
    return this.#deps.isShared ? Math.floor(this.#ahead / 2) : Infinity;
  }

  /** Of a key, only the newest event counts. */
  get #isNewestFirst(): boolean {
    return this.#handler.only === "newest";
  }

  /** One run waits for each place at most, so that what is new waits for no more. */
  get #roomForHistory(): number {
    return this.#enough(Math.min(this.#ahead, this.#running));
  }

  /** Nothing while less than half of what may wait is missing. */
  #enough(ahead: number): number {
    const left = this.#left(ahead);
    return left >= Math.min(ahead, this.#byRate) / 2 ? Math.max(0, left) : 0;
  }

  /** For so many more leases there is room if so many may wait; for none if it is not positive. */
  #left(ahead: number): number {
    if (this.#bytes >= WINDOW_BYTES) return 0;
    const left = this.#running + ahead - this.#size;
    return this.#byRate === Infinity ? left : Math.min(left, this.#byRate - this.#free);
  }

  /** How many leases may wait behind those that run. */
  get #ahead(): number {
    const most = Math.max(WINDOW - this.#running, this.#running);
    if (!this.#deps.isShared) return most;
    const soon = Math.floor((this.#deps.places * AHEAD_MS) / Math.max(this.#meanMs, 1));
    // At least the next batch, unless it would wait for too long.
    return Math.min(most, Math.max(soon, this.#meanMs < this.#patienceMs ? (this.#handler.batch?.max ?? 0) : 0));
  }

  /** How long a lease may wait here; then another process should have it. In milliseconds. */
  get #patienceMs(): number {
    return this.#deps.isShared ? PATIENCE_MS + (this.#handler.batch?.waitMs ?? 0) : Infinity;
  }

  /** A batch that runs counts as full: what it did not get may not wait here in its place. */
  get #size(): number {
    const runs = this.#begun.size - this.#joined.size;
    return this.#waiting.length + runs * (this.#handler.batch?.max ?? 1) + this.#reserved;
  }

  /** Of what waits, what does not wait for its key. */
  get #free(): number {
    const busy = new Set([...this.#begun].map(({ key }) => key));
    const free = this.#waiting.filter(({ lease: { key } }) => key === undefined || !busy.has(key));
    return free.length + this.#reserved;
  }

  get #now(): number {
    return elapsedBy(this.#deps.clock);
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
