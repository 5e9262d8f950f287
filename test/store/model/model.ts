import { isoTime } from "#pigeonhole/base/iso-time.js";
import type { StoreCounts } from "#pigeonhole/store/inbox-view.js";
import type { LeaseRequest } from "#pigeonhole/store/store.js";
import type {
  Lease,
  NewestKey,
  NewestResult,
  NewWork,
  ParkedNote,
  Settlement,
  WaitHolds,
} from "#pigeonhole/store/work.js";
import { Lives } from "./lives.js";
import { CRASH_LIMIT, type StoredWorkState } from "#pigeonhole/store/work-state.js";

/** What the store should hold for one handler of one event. */
export interface ModelWork {
  state: StoredWorkState;
  handler: string;
  dueAt?: number;
  /** When the wait until `dueAt` began. */
  waitsSince?: number;
  token?: number;
  leaseUntil?: number;
  /** The store that the lease was given by. */
  life?: number;
  started: number;
  finished: number;
  /** Runs that ended in a wait, the begin of the first one, and what the last one holds. */
  waits?: number;
  waitBegan?: number | undefined;
  holds?: WaitHolds | undefined;
  discarded: boolean;
  /** When and why it was ended. */
  settledAt?: number;
  reason?: string;
  newest?: NewestKey | undefined;
  /** Its end was due to a newer event. */
  isSuperseded?: boolean;
  /** Parked since too many processes died in it. */
  isCrashLoop?: boolean;
  steps: Record<string, string>;
}

export interface ModelEvent {
  id: string;
  seq: number;
  body: string;
  hasBody: boolean;
  receivedAt: number;
  signedAt: number;
  work: Map<string, ModelWork>;
}

const isEmpty = (steps: object): boolean => Object.keys(steps).length === 0;

/** The store as the interface describes it, in plain objects: the other opinion that the tests compare with. */
export class Model extends Lives {
  readonly events = new Map<string, ModelEvent>();
  /** Every lease ever given, so that old ones are tried too. */
  readonly leases: Lease[] = [];
  /** Also of an event that is dropped: no number is used again. */
  newestSeq = 0;
  /** The jobs that give handlers stored events, with the numbers of those that they have left. */
  histories: { handler: string; after: number; through: number }[] = [];
  done = 0;
  /** The user's own rows. */
  effects: string[] = [];

  get all(): { event: ModelEvent; work: ModelWork }[] {
    return [...this.events.values()].flatMap((event) => [...event.work.values()].map((work) => ({ event, work })));
  }

  /** What accepting these bytes should come to. Other bytes that are understood replace what was never handled. */
  expectAccept(
    id: string,
    body: string,
    { isUnderstood }: { isUnderstood: boolean },
  ): { kind: "stored" | "duplicate"; otherBytes: boolean } {
    const known = this.events.get(id);
    if (known === undefined) return { kind: "stored", otherBytes: false };
    if (known.body === body) return { kind: "duplicate", otherBytes: false };
    const work = [...known.work.values()];
    const isUnhandled =
      isUnderstood &&
      work.length > 0 &&
      work.every((one) => one.state === "parked" && !one.isCrashLoop && one.started <= 1 && isEmpty(one.steps));
    return { kind: isUnhandled ? "stored" : "duplicate", otherBytes: true };
  }

  accept(event: Omit<ModelEvent, "work" | "hasBody">, plan: readonly NewWork[], leases: readonly Lease[]): void {
    const work = plan.map(({ handler, leaseUntil, newest }): [string, ModelWork] => {
      const fresh = { handler, started: 0, finished: 0, discarded: false, newest, steps: {} };
      if (leaseUntil === undefined) return [handler, { ...fresh, state: "pending", dueAt: event.receivedAt }];
      const lease = leases.find((given) => given.handler === handler);
      return [
        handler,
        { ...fresh, state: "leased", token: lease?.token ?? -1, leaseUntil, life: this.life, started: 1 },
      ];
    });
    this.events.set(event.id, { ...event, hasBody: true, work: new Map(work) });
    this.leases.push(...leases);
  }

  addNote(event: ModelEvent): void {
    const unread = {
      settledAt: this.now,
      reason: "unknown_type",
      started: 0,
      finished: 0,
      discarded: false,
      steps: {},
    };
    event.work.set("", { handler: "", state: "parked", ...unread });
  }

  /** Work under a lease with its event, if the lease still holds. */
  findHeld({ seq, handler, token }: Lease): { event: ModelEvent; work: ModelWork } | undefined {
    return this.all.find(({ event, work }) => event.seq === seq && work.handler === handler && work.token === token);
  }

  /** Work under a lease, if the lease still holds. */
  held(lease: Lease): ModelWork | undefined {
    return this.findHeld(lease)?.work;
  }

  restartWaits(leaseUntil: number): number {
    let restarted = 0;
    for (const { work } of this.all) {
      if (work.leaseUntil !== undefined) work.leaseUntil = Math.min(work.leaseUntil, leaseUntil);
      if (work.dueAt === undefined || work.dueAt <= this.now) continue;
      const since = work.waitsSince ?? work.dueAt;
      if (since <= this.now) continue;
      Object.assign(work, { dueAt: this.now + work.dueAt - since, waitsSince: this.now });
      restarted += 1;
    }
    return restarted;
  }

  /** Until when a wait holds a handler. */
  heldUntil({ handler, now }: Pick<LeaseRequest, "handler" | "now">): number | undefined {
    const dues = this.pendingOf(handler).flatMap(({ work: { holds, waitsSince, dueAt = 0 } }) =>
      holds === "handler" && waitsSince !== undefined && dueAt > now ? [dueAt] : [],
    );
    return dues.length === 0 ? undefined : Math.max(...dues);
  }

  /** The page that a request should get. */
  page(request: LeaseRequest): { event: ModelEvent; work: ModelWork }[] {
    if (this.heldUntil(request) !== undefined) return [];
    const due = this.pendingOf(request.handler)
      .filter(({ work }) => (work.dueAt ?? Infinity) <= request.now)
      .toSorted((a, b) => (a.work.dueAt ?? 0) - (b.work.dueAt ?? 0) || a.event.seq - b.event.seq);
    const ofCrashes = (least: number, most: number) =>
      due.filter(({ work }) => work.started - work.finished >= least && work.started - work.finished <= most);
    const crashLooping = ofCrashes(2, Infinity).slice(0, request.allowCrashLooping ? 1 : 0);
    if (crashLooping.length > 0) return crashLooping;
    const crashed = ofCrashes(1, 1).slice(0, request.crashedLimit);
    const isLimited = this.kind.isShared && this.histories.some(({ handler }) => handler === request.handler);
    const limit = isLimited ? Math.min(request.limit, request.history ?? 0) : request.limit;
    return crashed.length > 0 ? crashed : ofCrashes(0, 0).slice(0, limit);
  }

  /** Begins to give a handler the stored events that it never got. */
  plan(handler: string): { events: number; withoutBody: number } {
    const missing = this.missingOf(handler);
    const events = missing.filter(({ hasBody }) => hasBody).length;
    const [first, last] = [missing[0]?.seq ?? 0, missing.at(-1)?.seq ?? 0];
    if (events > 0) this.histories.push({ handler, after: first - 1, through: last });
    return { events, withoutBody: missing.length - events };
  }

  /** Makes what the request gets of the history of its handler. */
  makeHistory(request: LeaseRequest): void {
    const { handler, now, history = 0, newestFirst = false } = request;
    const job = this.histories.find((each) => each.handler === handler);
    const hasDue = (this.nextDueAt(handler) ?? Infinity) <= now;
    if (job === undefined || history === 0 || hasDue || this.heldUntil(request) !== undefined) return;
    const left = this.missingOf(handler).filter(({ seq }) => seq > job.after && seq <= job.through);
    const page = (newestFirst ? left.toReversed() : left).slice(0, history);
    const fresh = { handler, state: "pending", dueAt: now, started: 0, finished: 0, discarded: false } as const;
    for (const { hasBody, work } of page) if (hasBody) work.set(handler, { ...fresh, steps: {} });
    const last = page.length === history ? page.at(-1)?.seq : undefined;
    if (newestFirst) job.through = last === undefined ? job.after : last - 1;
    else job.after = last ?? job.through;
    this.histories = this.histories.filter(({ after, through }) => after < through);
  }

  private missingOf(handler: string): ModelEvent[] {
    const missing = [...this.events.values()].filter(({ work }) => !work.has(handler) && !work.has(""));
    return missing.toSorted((a, b) => a.seq - b.seq);
  }

  nextDueAt(handler: string): number | undefined {
    const dues = this.pendingOf(handler).map(({ work }) => work.dueAt ?? Infinity);
    return dues.length === 0 ? undefined : Math.min(...dues);
  }

  /** Whether a handler has something to lease. */
  isDue(handler: string): boolean {
    return (this.nextDueAt(handler) ?? Infinity) <= this.now || this.histories.some((job) => job.handler === handler);
  }

  private pendingOf(handler: string): { event: ModelEvent; work: ModelWork }[] {
    return this.all.filter(({ work }) => work.state === "pending" && work.handler === handler);
  }

  settle(work: ModelWork, settlement: Settlement): void {
    const { to, at } = settlement;
    if (to === "pending") end(work, to);
    else end(work, to, { settledAt: at, ...(to !== "done" && { reason: settlement.reason }) });
    if (to === "done") this.done += 1;
    else work.finished += 1;
    if (settlement.to === "pending") {
      const { dueAt, wait } = settlement;
      Object.assign(work, { dueAt, waitsSince: at, holds: wait?.holds });
      if (wait !== undefined) Object.assign(work, { waits: (work.waits ?? 0) + 1, waitBegan: wait.began });
    }
    if (settlement.dropSteps) work.steps = {};
  }

  release({ event, work }: { event: ModelEvent; work: ModelWork }): void {
    end(work, "pending");
    work.dueAt = Math.min(event.receivedAt, this.now);
    work.started -= 1;
  }

  /** Ends what is older than the newest of the key, and is open; the work under the lease only if it is. */
  beginNewest(own: { event: ModelEvent; work: ModelWork }, of: NewestKey): NewestResult {
    own.work.newest = of;
    const rankOf = ({ event, work: { newest } }: typeof own): [number, number] => [newest?.createdAt ?? -1, event.seq];
    const isNewer = (one: typeof own, other: typeof own): boolean => {
      const [[createdAt, seq], [than, thanSeq]] = [rankOf(one), rankOf(other)];
      return createdAt === than ? seq > thanSeq : createdAt > than;
    };
    const ofKey = this.all.filter(({ work }) => work.handler === own.work.handler && work.newest?.key === of.key);
    const counting = ofKey.filter(({ work }) => !work.discarded || work.isSuperseded === true || work.started > 0);
    const newest = counting.reduce((one, other) => (isNewer(other, one) ? other : one), own);
    for (const each of ofKey.filter((one) => isNewer(newest, one))) {
      const { work } = each;
      if (work === own.work) work.started -= 1;
      else if (work.state === "leased" || work.state === "done") continue;
      end(work, "done", { settledAt: this.now, reason: "superseded" });
      Object.assign(work, { discarded: true, isSuperseded: true });
    }
    return newest === own ? "newest" : "superseded";
  }

  recover(): { recovered: number; parked: number } {
    const ends = this.takeOver();
    const result = { recovered: 0, parked: 0 };
    for (const { work } of this.all) {
      if (work.state !== "leased" || !ends(work.life, work.leaseUntil)) continue;
      if (work.started - work.finished >= CRASH_LIMIT) {
        end(work, "parked", { settledAt: this.now, reason: "crash_loop" });
        work.isCrashLoop = true;
        result.parked += 1;
      } else {
        end(work, "pending");
        work.dueAt = this.now;
        result.recovered += 1;
      }
    }
    return result;
  }

  replan(event: ModelEvent, handlers: readonly string[], parked: ParkedNote | undefined): number {
    if (!event.hasBody) return 0;
    let pending = 0;
    event.work.delete("");
    if (parked !== undefined) this.addNote(event);
    for (const work of event.work.values()) {
      const isStuck = work.handler !== "" && (work.state === "dead" || work.state === "parked");
      if (!isStuck || (parked !== undefined && !handlers.includes(work.handler))) continue;
      end(work, "pending");
      Object.assign(work, { dueAt: this.now, started: 0, finished: 0, waits: 0, waitBegan: undefined });
      pending += 1;
    }
    for (const handler of handlers) {
      const work = event.work.get(handler);
      if (work !== undefined && !work.discarded) continue;
      const steps = work?.steps ?? {};
      event.work.set(handler, {
        handler,
        state: "pending",
        dueAt: this.now,
        started: 0,
        finished: 0,
        discarded: false,
        newest: work?.newest,
        steps,
      });
      pending += 1;
    }
    return pending;
  }

  /** Makes work due that waits; it keeps its attempts. Returns how many pieces. */
  runNow(events: readonly ModelEvent[], handler?: string): number {
    let pieces = 0;
    for (const work of events.flatMap((event) => [...event.work.values()])) {
      const isChosen = handler === undefined || work.handler === handler;
      if (!isChosen || work.state !== "pending" || (work.dueAt ?? 0) <= this.now) continue;
      work.dueAt = this.now;
      delete work.waitsSince;
      pieces += 1;
    }
    return pieces;
  }

  discard(event: ModelEvent): number {
    const ended = [...event.work.values()].filter(({ state }) => state !== "leased" && state !== "done");
    for (const work of ended) {
      end(work, "done", { settledAt: this.now });
      work.discarded = true;
    }
    return ended.length;
  }

  prune(limits: { idsBefore: number; bodiesBefore: number }): void {
    const isSettled = (event: ModelEvent): boolean => [...event.work.values()].every(({ state }) => state === "done");
    for (const event of this.#oldOf([...this.events.values()], limits.idsBefore)) {
      if (!isSettled(event)) continue;
      // The clock may have been behind when it was received.
      if (event.signedAt >= limits.idsBefore) continue;
      this.events.delete(event.id);
    }
    const withBody = [...this.events.values()].filter(({ hasBody }) => hasBody);
    for (const event of this.#oldOf(withBody, limits.bodiesBefore)) if (isSettled(event)) event.hasBody = false;
  }

  /** In the order of arrival, as far as they are old; those of a time to come are passed over. */
  #oldOf(events: readonly ModelEvent[], before: number): ModelEvent[] {
    const inOrder = events.toSorted((a, b) => a.seq - b.seq).filter(({ receivedAt }) => receivedAt <= this.now);
    const young = inOrder.findIndex(({ receivedAt }) => receivedAt >= before);
    return young === -1 ? inOrder : inOrder.slice(0, young);
  }

  /** `pending`: with what is retrying. */
  get counts(): Partial<StoreCounts> {
    const count = (state: StoredWorkState): number => this.all.filter(({ work }) => work.state === state).length;
    const pending = this.all.filter(({ work }) => work.state === "pending");
    const dues = pending.map(({ work }) => work.dueAt ?? Infinity).filter((dueAt) => dueAt <= this.now);
    const open = this.all.filter(({ work }) => work.state === "pending" || work.state === "leased");
    const first = open.toSorted((a, b) => a.event.seq - b.event.seq)[0];
    return {
      pending: pending.length,
      running: count("leased"),
      dead: count("dead"),
      parked: count("parked"),
      done: this.done,
      oldestDueAt: isoTime(dues.length === 0 ? null : Math.min(...dues)),
      oldestOpenReceivedAt: isoTime(first?.event.receivedAt),
    };
  }
}

function end(work: ModelWork, state: StoredWorkState, ending?: Pick<ModelWork, "settledAt" | "reason">): void {
  work.state = state;
  delete work.token;
  delete work.leaseUntil;
  delete work.dueAt;
  delete work.waitsSince;
  delete work.settledAt;
  delete work.reason;
  Object.assign(work, ending);
}
