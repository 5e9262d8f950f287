import { elapsedBy } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { EarliestTimer } from "../base/earliest-timer.js";
import { errorFields } from "../base/error-fields.js";
import type { AnyEvent } from "../protocol/event.js";
import type { LeasePage, LeaseRequest, SettleResult } from "../store/store.js";
import type { Lease, LeasedWork, NewestKey } from "../store/work.js";
import type { Gate, GatedWork, ReadyWork, WindowLease, WorkEnd } from "./gate.js";
import { BatchGate } from "./gates/batch.js";
import { isCrashLooping } from "./gates/crash.js";
import type { PlacesGate } from "./gates/places.js";
import type { RegisteredHandler } from "./handler.js";
import { LeaseWindow } from "./lease-window.js";
import { LEASE_MS } from "./leases.js";
import type { HandlerRuns } from "./handler-runs.js";
import type { RunOutcome, RunResult } from "./runner.js";
import type { DispatcherDeps, Scheduler } from "./scheduler.js";

/** After a failure, the store is queried for work again after this. */
const FAILED_WAIT_MS = SECOND;
/** At the earliest after this, where none was leased that is due. */
const REFUSED_WAIT_MS = 250;

/** Takes the work of one handler from the store to its settlement: lease, run, settle. */
export class HandlerWorker {
  readonly handler: string;
  readonly places: PlacesGate;
  readonly window: LeaseWindow;
  readonly gates: readonly Gate[];
  readonly #deps: DispatcherDeps;
  readonly #scheduler: Scheduler;
  readonly runs: HandlerRuns;
  readonly #batch: BatchGate | undefined;
  /** Looks again whether work may begin. */
  readonly lookTimer: EarliestTimer;
  /** There is, or may be, due work in the store. */
  readonly wakeTimer: EarliestTimer;
  readonly closing = new AbortController();
  /** The number of its last turn. */
  lastTurn = 0;

  constructor(handler: RegisteredHandler, scheduler: Scheduler, deps: DispatcherDeps) {
    const { runner, clock, logger } = deps;
    this.handler = handler.name;
    this.places = scheduler.placesOf(handler);
    const [places, isShared] = [this.places.max, scheduler.leases.areShared];
    this.window = new LeaseWindow(handler, { places, isShared, clock, logger });
    this.lookTimer = new EarliestTimer(clock, () => this.look());
    this.wakeTimer = new EarliestTimer(clock, () => this.wake());
    this.gates = scheduler.gatesOf(handler, this);
    this.#batch = this.gates.find((gate) => gate instanceof BatchGate);
    this.#deps = deps;
    this.#scheduler = scheduler;
    this.runs = runner.record.runsOf(handler, clock);
  }

  /** The gate that keeps all work of the handler in the store, if one does; `work` for a certain kind of its work. */
  holder(work: GatedWork = this): Gate | undefined {
    for (const gate of this.gates) if (gate.keeps === "in_store" && !gate.allows(work)) return gate;
    return undefined;
  }

  /** Begins what may begin now. */
  look(): void {
    this.#scheduler.look([this]);
  }

  /** There is, or may be, due work of this handler in the store. */
  wake(): void {
    this.window.isBehind = true;
    this.#leaseIfWanted();
  }

  /** True when new work may be leased as it is accepted; it is followed by `take` or `unreserve`. */
  reserve(): boolean {
    return this.holder() === undefined && this.window.reserve();
  }

  /** No work leased as it was accepted fills the room that was reserved for it. */
  unreserve(): void {
    this.window.unreserve();
    this.#leaseIfWanted();
    this.#scheduler.progress.noteChange();
  }

  /** Takes work that was leased as it was accepted. */
  take(work: LeasedWork, event: AnyEvent, newest: NewestKey | undefined): void {
    this.window.add(work, event, newest);
    this.window.unreserve();
    this.look();
    this.#scheduler.progress.noteChange();
  }

  /** True when a page of the store may be leased. */
  get hasRoomForPage(): boolean {
    const holder = this.holder();
    // The store knows whether a person has ended the wait.
    return this.window.roomForPage > 0 && (holder === undefined || holder.name === "retry_after");
  }

  /** True when no work is here and, as far as is known, none is due in the store. Work of a held handler waits. */
  get isIdle(): boolean {
    const holder = this.holder();
    const waits = holder !== undefined && ["paused", "retry_after", "rate"].includes(holder.name);
    const isBehind = holder === undefined ? this.window.isBehind || this.window.mayHaveMore : !waits;
    const { isArriving, hasBegun, waiting } = this.window;
    return !isBehind && !isArriving && !hasBegun && waiting.length === 0;
  }

  /** Renews the leases of this handler. A run whose lease is lost is aborted, and waiting work does not begin. */
  async renew(now: number): Promise<void> {
    const { leases } = this.window;
    if (leases.length === 0) return;
    for (const lost of await this.#deps.store.renew(leases, now + LEASE_MS)) {
      this.window.lose(lost);
      this.runs.lose(lost);
    }
  }

  /** Takes out what does not begin here any more: it has waited for too long, or all work of the handler must wait. */
  takeStale(): Lease[] {
    const isHeld = this.holder() !== undefined;
    return isHeld ? this.window.takeWaiting() : this.window.takeStale();
  }

  run(ready: ReadyWork): Promise<RunResult> {
    const others = this.#takeOthers(ready);
    // With a rate, what waits is what may begin soon.
    if (this.runs.handler.rate !== undefined) this.#leaseIfWanted();
    return this.#deps.runner.run(this.runs, ready, others);
  }

  /** What waits for a batch to be full waits no more, unless other work is about to come. */
  endWait(): void {
    const { window } = this;
    if (window.isArriving || (window.isBehind && this.hasRoomForPage)) return;
    this.#batch?.endWait();
    this.look();
  }

  async settle(lease: WindowLease, result: RunResult | undefined): Promise<void> {
    const { ends, span } = result ?? { ends: [{ lease, settlement: undefined, hasRecorded: false }] };
    const write = async ({ settlement }: WorkEnd): Promise<Written> => this.#write(settlement);
    const [only] = ends.length === 1 ? ends : [];
    const became = only === undefined ? await Promise.all(ends.map(write)) : [await this.#write(only.settlement)];
    const outcomes = ends.map((end, index) => this.#conclude(end, became[index]));
    span?.end(outcomes.find((outcome) => outcome !== "done") ?? "done");
    // Together: each page of the store that is leased then is as large as it can be.
    for (const end of ends) this.window.release(end.lease, result !== undefined);
    this.#leaseIfWanted();
    this.#scheduler.progress.noteChange();
  }

  /** Begins other work with the first of a batch. What a process died in runs alone, and so ends no other run. */
  #takeOthers(first: ReadyWork): ReadyWork[] {
    const { window, gates } = this;
    const max = this.runs.handler.batch?.max ?? 1;
    if (max === 1 || first.lease.crashes > 0) return [];
    const mayJoin = ({ lease }: ReadyWork): boolean =>
      lease.crashes === 0 &&
      !window.isStale(lease) &&
      gates.every((gate) => gate.keeps !== "work" || gate.allows(lease));
    const others = window.waiting.filter(mayJoin).slice(0, max - 1);
    for (const other of others) window.begin(other, true);
    return others;
  }

  #write(settlement: WorkEnd["settlement"]): Written | Promise<Written> {
    return typeof settlement === "object" ? this.#scheduler.leases.settle(settlement) : settlement;
  }

  /** Leases a piece of crash-looping work, if some is due. Never rejects: the other handlers must get their turn. */
  async leaseCrashLooping(): Promise<WindowLease | undefined> {
    if (this.window.isClosed || this.holder({ handler: this.handler, crashes: Infinity }) !== undefined)
      return undefined;
    try {
      const page = await this.#ask({ limit: 0, crashedLimit: 0, history: 0, allowCrashLooping: true });
      const [lease] = await this.#scheduler.leases.read(this.window, page);
      return lease;
    } catch (error) {
      this.#reportFailed(errorFields(error, true));
      return undefined;
    }
  }

  /** Begins no more work. Resolves with the leases of what has not begun, once no request to the store is pending. */
  async close(): Promise<Lease[]> {
    this.wakeTimer.close();
    this.lookTimer.close();
    this.window.isClosed = true;
    this.closing.abort();
    const waiting = this.window.takeWaiting();
    // Crash-looping work is waited for while it is in the window.
    this.#scheduler.progress.noteChange();
    while (this.window.isArriving) await this.#scheduler.progress.untilChanged();
    return [...waiting, ...this.window.takeWaiting()];
  }

  /** Leases due work, a page at a time, while there is some and memory for it. */
  async #lease(): Promise<void> {
    const { window } = this;
    const scheduler = this.#scheduler;
    const { clock } = this.#deps;
    window.isRefilling = true;
    try {
      while (window.isBehind && this.hasRoomForPage) {
        // Before the query: work that is accepted meanwhile sets it again.
        window.isBehind = false;
        const page = await this.#ask({ allowCrashLooping: scheduler.crash.mayRun });
        const { work, nextDueAt } = page;
        window.notePage(page);
        if (work.some(isCrashLooping)) {
          await scheduler.leases.giveBack(work);
          await scheduler.runCrashLooping();
          continue;
        }
        await scheduler.leases.read(window, page);
        // After the answers that are written in this turn.
        setImmediate(() => this.look());
        // What is due and was not leased waits until it may run alone.
        if (work.length === 0 && nextDueAt !== undefined)
          this.#wakeAt(Math.max(nextDueAt, clock.now() + REFUSED_WAIT_MS));
      }
    } catch (error) {
      // Whether work is due is not known.
      window.isBehind = true;
      this.#reportFailed(errorFields(error, false));
      this.#wakeAt(clock.now() + FAILED_WAIT_MS);
    } finally {
      window.isRefilling = false;
      scheduler.progress.noteChange();
    }
  }

  /** Asks the store for work, which also says who is held: at the start, before new work is accepted. */
  async #ask(limits: Pick<LeaseRequest, "allowCrashLooping"> & Partial<LeaseRequest>): Promise<LeasePage> {
    const noteAnswer = this.#scheduler.retryAfter.ask(this.handler);
    const now = this.#deps.clock.now();
    const page = await this.#deps.store.lease({
      ...this.window.pageRequest,
      now,
      leaseUntil: now + LEASE_MS,
      ...limits,
    });
    noteAnswer(page.heldUntil);
    return page;
  }

  #leaseIfWanted(): void {
    if (this.window.isBehind && !this.window.isRefilling && this.hasRoomForPage) void this.#lease();
  }

  /** Concludes a run once its settlement is stored, or known to be lost. Gives back what did not run. */
  #conclude({ lease, settlement, hasRecorded }: WorkEnd, became: Written): RunOutcome {
    const { sender, logger } = this.#deps;
    const { eventId, handler, attempt } = lease;
    // Which lease of a batch was lost need not be known: giving it back changes nothing.
    const isLeft = settlement === undefined || settlement === "lost";
    if (became === "interrupted" || (isLeft && !lease.isLost)) this.#scheduler.leases.unreturned.push(lease);
    if (settlement === undefined || became === undefined) return "interrupted";
    const isKept = became === "settled" || became === "committed";
    const outcome = isKept ? outcomeOf(settlement) : became;
    // Why a run was interrupted is logged where that is seen.
    if (became === "lost") logger.warn({ eventId, handler, attempt }, "lease_lost");
    if (outcome === "done" && hasRecorded) sender?.wake();
    if (typeof settlement === "object" && settlement.to === "pending") {
      if (isKept) this.#wakeAt(settlement.dueAt);
      if (settlement.wait?.holds === "handler") this.#scheduler.retryAfter.noteStored(this.handler);
    }
    this.#scheduler.progress.outcomes[outcome] += 1;
    return outcome;
  }

  /** Work of this handler is due at that time, in milliseconds since 1970. */
  #wakeAt(dueAt: number): void {
    const { clock } = this.#deps;
    this.wakeTimer.setTo(elapsedBy(clock) + dueAt - clock.now());
  }

  #reportFailed(fields: object): void {
    this.#deps.logger.error({ handler: this.handler, ...fields }, "handler_queue_failed");
  }
}

/** What became of a run; undefined where there was none. */
type Written = SettleResult | "committed" | "interrupted" | undefined;

function outcomeOf(settlement: Exclude<WorkEnd["settlement"], undefined>): RunOutcome {
  if (settlement === "lost" || settlement === "interrupted") return settlement;
  if (settlement === "committed" || settlement.to === "done") return "done";
  return settlement.to === "pending" ? "retry" : "dead";
}
