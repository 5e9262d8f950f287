import type { Logger } from "../base/logger.js";
import type { AnyEvent } from "../protocol/event.js";
import type { LeaseRequest } from "../store/store.js";
import type { Lease, LeasedWork, NewestKey } from "../store/work.js";
import { type RegisteredHandler, keyOf, newestKeyOf } from "./handler.js";
import { type WindowLoad, type WindowPlaces, WindowRoom } from "./window-room.js";

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
  /** When it was added and, once it has begun, when that was, by the window's room. */
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
export class LeaseWindow implements WindowLoad {
  readonly room: WindowRoom;
  readonly #handler: RegisteredHandler;
  readonly #logger: Logger;
  /** In the order of arrival. An array, since old tables of a Map or Set would keep events in memory. */
  readonly #waiting: ReadyWork[] = [];
  /** Begun, and not settled yet. */
  readonly #begun = new Set<WindowLease>();
  /** Those of them that another one has taken along in its batch. */
  readonly #joined = new Set<WindowLease>();
  bytes = 0;
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

  constructor(handler: RegisteredHandler, { logger, ...places }: WindowPlaces & { logger: Logger }) {
    this.#handler = handler;
    this.#logger = logger;
    this.room = new WindowRoom(handler, places);
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
    if (this.isClosed || this.isBehind || this.room.left(this) <= 0) return false;
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
    const key = known?.key ?? keyOf(this.#handler, event, eventId, this.#logger);
    const newest = known ?? newestKeyOf(this.#handler, key, event);
    const since = this.room.now();
    const lease = { seq, handler, token, eventId, attempt, dueAt, bytes, crashes, key, newest, since, isLost: false };
    this.#waiting.push({ lease, work, event });
    this.bytes += bytes;
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
    lease.since = this.room.now();
    this.#begun.add(lease);
    if (joins) this.#joined.add(lease);
  }

  /** What has begun is settled, or did not run after all. */
  release(lease: WindowLease, hasRun: boolean): void {
    this.#begun.delete(lease);
    this.#joined.delete(lease);
    this.#noteGone(lease);
    if (!hasRun) return;
    this.#noteFree();
    this.room.noteRun(lease.since);
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
    if (waitsForKey) this.waitsForKey = true;
    else this.#noteFree();
  }

  /** Takes out what must not begin here any more. */
  takeStale(): Lease[] {
    const stale = this.#take(({ lease }) => this.room.isStale(lease));
    if (stale.length > 0) this.room.noteSlow(Math.min(this.room.now(), ...[...this.#begun].map((run) => run.since)));
    return stale;
  }

  /** Takes out all that has not begun. */
  takeWaiting(): Lease[] {
    return this.#take(() => true);
  }

  /** How much a page of the store may bring. Of work that a process died in, only a few pieces may run at a crash. */
  get roomForPage(): number {
    return this.isClosed || this.#crashed > 0 ? 0 : this.room.forPage(this);
  }

  /** The next page: at most what there is room for. */
  get pageRequest(): Omit<LeaseRequest, "now" | "leaseUntil" | "allowCrashLooping"> {
    const handler = this.#handler.name;
    const limit = this.roomForPage;
    const history = Math.min(limit, this.room.forHistory(this));
    const crashedLimit = this.room.forCrashed;
    return { handler, limit, maxBytes: PAGE_BYTES, crashedLimit, history, newestFirst: this.isNewestFirst };
  }

  /** Of a key, only the newest event counts. */
  get isNewestFirst(): boolean {
    return this.#handler.only === "newest";
  }

  /** True when no work is here, and none is about to come. */
  get isEmpty(): boolean {
    return !this.isRefilling && this.size === 0;
  }

  /** True when there is history and room for it. */
  get mayTakeHistory(): boolean {
    return this.hasHistory && this.room.forHistory(this) > 0;
  }

  /** A batch that runs counts as full: what it did not get may not wait here in its place. */
  get size(): number {
    const runs = this.#begun.size - this.#joined.size;
    return this.#waiting.length + runs * (this.#handler.batch?.max ?? 1) + this.#reserved;
  }

  get free(): number {
    const busy = new Set([...this.#begun].map(({ key }) => key));
    const free = this.#waiting.filter(({ lease: { key } }) => key === undefined || !busy.has(key));
    return free.length + this.#reserved;
  }

  /** Another key may be free, and there may be room for history. */
  #noteFree(): void {
    this.isBehind ||= this.waitsForKey || this.mayTakeHistory;
  }

  #take(isTaken: (ready: ReadyWork) => boolean): WindowLease[] {
    const taken = this.#waiting.filter(isTaken).map(({ lease }) => lease);
    for (const lease of taken) this.#noteGone(lease);
    const left = this.#waiting.filter(({ lease }) => !taken.includes(lease));
    if (taken.length > 0) this.#waiting.splice(0, Infinity, ...left);
    return taken;
  }

  #noteGone({ bytes, crashes }: WindowLease): void {
    this.bytes -= bytes;
    if (crashes > 0) this.#crashed -= 1;
  }
}
