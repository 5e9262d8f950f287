import type { Clock, Timer } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import type { Logger } from "../base/logger.js";
import type { SettleResult } from "../store/store.js";
import type { Lease } from "../store/work.js";
import type { CrashLoopingWork } from "./crash-looping-work.js";
import type { HandlerQueue } from "./handler-queue.js";
import type { ReadyWork, WindowLease } from "./lease-window.js";
import type { Leases } from "./leases.js";
import type { RunOutcome } from "./run-observer.js";
import type { RunResult } from "./runner.js";

/** After a failure, the store is queried for work again after this. */
const FAILED_WAIT_MS = SECOND;

/** What became of the settlement of a run. */
type SettledAs = SettleResult | "committed" | "interrupted";

/** Sends what handlers record. */
export interface OutboxWorker {
  /** This process runs the handlers of the store from now on. */
  start(): void;
  /** There are contact events to send. */
  wake(): void;
  /** Another process may have recorded some. */
  poll(): void;
}

export interface HandlerWorkerDeps {
  leases: Leases;
  crashLooping: CrashLoopingWork;
  /** Undefined when nothing can be sent. */
  sender: OutboxWorker | undefined;
  progress: RunProgress;
  clock: Clock;
  logger: Logger;
}

/** Takes the work of one handler from the store to its settlement: lease, run, settle. */
export class HandlerWorker {
  readonly queue: HandlerQueue;
  readonly #deps: HandlerWorkerDeps;
  readonly #timer: WakeTimer;

  constructor(queue: HandlerQueue, deps: HandlerWorkerDeps) {
    this.queue = queue;
    this.#deps = deps;
    this.#timer = new WakeTimer(deps.clock, () => this.wake());
  }

  /** There is, or may be, due work of this handler in the store. */
  wake(): void {
    this.queue.window.isBehind = true;
    this.#leaseIfWanted();
  }

  /** Takes no more work until {@link resume}. What has not begun goes back to the store. */
  pause(): void {
    this.queue.window.isPaused = true;
    this.#deps.progress.noteChange();
  }

  resume(): void {
    this.queue.window.isPaused = false;
    this.wake();
  }

  /** The store cannot be reached. What has not begun goes back to it once it answers. */
  suspend(): void {
    this.queue.window.absence.begin();
  }

  /** The store has answered what was asked at that time. */
  noteAnswer(askedAt: number): void {
    if (this.queue.window.absence.noteAnswer(askedAt)) this.wake();
  }

  /** No work leased as it was accepted fills the room that was reserved for it. */
  unreserve(): void {
    this.queue.window.unreserve();
    this.#leaseIfWanted();
    this.#deps.progress.noteChange();
  }

  /** Renews the leases of this handler. A run whose lease is lost is aborted, and waiting work does not begin. */
  async renew(now: number): Promise<void> {
    for (const lost of await this.#deps.leases.renew(this.queue.window, now)) this.queue.lose(lost);
  }

  /** Leased work runs in its turn, then it is settled. Event and body are released in between. */
  work(ready: ReadyWork): Promise<void> {
    const { lease } = ready;
    return this.queue.run(ready).then((result) => this.#settle(lease, result));
  }

  /**
   * Runs and settles one piece of work while nothing else runs. Never rejects: the other handlers must get their turn.
   */
  workAlone(ready: ReadyWork): Promise<void> {
    const { lease } = ready;
    return this.queue
      .runAlone(ready)
      .then((result) => this.#settle(lease, result))
      .catch((error: unknown) => this.#reportFailed(errorFields(error, true)));
  }

  /** Begins no more work. Resolves with the leases of what has not begun. */
  close(): Promise<Lease[]> {
    this.#timer.cancel();
    this.queue.clear();
    return this.queue.window.close();
  }

  /** Leases due work, a page at a time, while there is some and memory for it. */
  async #lease(): Promise<void> {
    const { leases, crashLooping, progress, clock } = this.#deps;
    const { window } = this.queue;
    window.isRefilling = true;
    try {
      while (window.isBehind && window.hasRoomForPage) {
        const seekCrashLooping = crashLooping.mayRun;
        const { ready, hasCrashLooping, nextDueAt } = await leases.leasePage(window, { seekCrashLooping });
        if (hasCrashLooping) await crashLooping.run();
        leases.answers.begin(ready, (each) => void this.work(each));
        if (nextDueAt !== undefined) this.#wakeAt(nextDueAt);
      }
    } catch (error) {
      // Whether work is due is not known.
      window.isBehind = true;
      this.#reportFailed(errorFields(error, false));
      this.#wakeAt(clock.now() + FAILED_WAIT_MS);
    } finally {
      window.isRefilling = false;
      progress.noteChange();
    }
  }

  #leaseIfWanted(): void {
    if (this.queue.window.wantsRefill) void this.#lease();
  }

  /** `result` is undefined for work that must no longer begin. */
  async #settle(lease: WindowLease, result: RunResult | undefined): Promise<void> {
    if (result !== undefined) {
      const { settlement } = result;
      const became = typeof settlement === "object" ? await this.#deps.leases.settle(settlement) : settlement;
      if (became === "interrupted") this.#deps.leases.giveBackLater(lease);
      else this.#noteSettled(lease);
      this.#conclude(lease, result, became);
    } else if (this.queue.window.has(lease)) {
      // It has waited for too long to begin here.
      this.#deps.leases.giveBackLater(lease);
    }
    this.queue.window.release(lease);
    this.#leaseIfWanted();
    this.#deps.progress.noteChange();
  }

  #noteSettled({ seq }: Lease): void {
    this.queue.window.absence.noteSettled();
    this.queue.interruptions.end(seq);
  }

  /** Concludes a run once its settlement is stored, or known to be lost. */
  #conclude({ eventId, handler, attempt }: WindowLease, result: RunResult, became: SettledAs): void {
    const { sender, progress, logger } = this.#deps;
    const { settlement } = result;
    const isKept = became === "settled" || became === "committed";
    const outcome = isKept ? outcomeOf(settlement) : became;
    // Why a run was interrupted is logged where that is seen.
    if (became === "lost") logger.warn({ eventId, handler, attempt }, "lease_lost");
    if (outcome === "done" && result.hasRecorded) sender?.wake();
    if (isKept && typeof settlement === "object" && settlement.to === "pending") this.#wakeAt(settlement.dueAt);
    progress.outcomes[outcome] += 1;
    result.span?.end(outcome);
  }

  /** Work of this handler is due at that time. */
  #wakeAt(dueAt: number): void {
    if (this.queue.window.isOpen) this.#timer.set(dueAt);
  }

  #reportFailed(fields: object): void {
    this.#deps.logger.error({ handler: this.queue.handler.name, ...fields }, "handler_queue_failed");
  }
}

function outcomeOf(settlement: RunResult["settlement"]): RunOutcome {
  if (settlement === "lost" || settlement === "interrupted") return settlement;
  if (settlement === "committed" || settlement.to === "done") return "done";
  return settlement.to === "pending" ? "retry" : "dead";
}

/** How the runs of a dispatcher have ended, and when nothing may be left to do. */
export class RunProgress {
  /** Runs since the start, by how they ended. */
  readonly outcomes: Record<RunOutcome, number> = { done: 0, retry: 0, dead: 0, interrupted: 0, lost: 0 };
  #waiting: (() => void)[] = [];

  /** Something has changed that may leave nothing to do. */
  noteChange(): void {
    if (this.#waiting.length > 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves at the next change. */
  untilChanged(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

/** Calls back at the earliest of the times it was set to. */
class WakeTimer {
  readonly #clock: Clock;
  readonly #wake: () => void;
  #timer: Timer | undefined;
  #dueAt = Infinity;

  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  /** In milliseconds since 1970. */
  set(dueAt: number): void {
    if (dueAt >= this.#dueAt) return;
    this.#timer?.cancel();
    this.#dueAt = dueAt;
    this.#timer = this.#clock.setTimer(() => {
      this.#dueAt = Infinity;
      this.#wake();
    }, dueAt - this.#clock.now());
  }

  cancel(): void {
    this.#timer?.cancel();
  }
}
