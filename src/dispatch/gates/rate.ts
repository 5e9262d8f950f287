import { elapsedBy } from "../../base/clock.js";
import { SECOND } from "../../base/duration.js";
import type { EarliestTimer } from "../../base/earliest-timer.js";
import { errorFields } from "../../base/error-fields.js";
import { sleep } from "../../base/wait.js";
import { RESERVED_AHEAD_MS } from "../../store/queries/run-slots.js";
import type { Gate, GatedWork } from "../gate.js";
import { type Rate, type RegisteredHandler, gapOf, runsSoon, slackOf } from "../handler.js";
import type { StoreDeps } from "../registry.js";

/** By so much the clocks of two processes may differ once both are converted to the store's. */
const CLOCK_ERROR_MS = 10;
/** Slots that could not be reserved are asked for again a second before this. */
const FAILED_WAIT_MS = 2 * SECOND;

type LimitedHandler = Pick<RegisteredHandler, "name" | "batch" | "key" | "only"> & { rate: Rate };

/** What finds out when the gate has opened. */
export interface RateLane {
  /** Its leased work. */
  readonly window: { readonly waiting: readonly unknown[] };
  /** Begins what may begin now. */
  look(): void;
  /** Looks again. */
  readonly lookTimer: EarliestTimer;
  /** Leases again. */
  readonly wakeTimer: EarliestTimer;
  /** Aborted when no more work begins. */
  readonly closing: { readonly signal: AbortSignal };
}

export interface RateGateDeps extends Pick<StoreDeps, "clock" | "logger"> {
  store: Pick<StoreDeps["store"], "reserveRuns" | "holdKey">;
  lane: RateLane;
}

/**
 * Runs of the handler begin one after another, in slots of time that the processes of a store reserve from one row. A
 * slot that is not used in time is lost, and so there is nothing to give back. Where the store decides whether work may
 * run, which may take longer than a slot lasts, the slot is reserved after that. One gate per handler.
 */
export class RateGate implements Gate {
  readonly name = "rate";
  readonly #handler: LimitedHandler;
  readonly #deps: RateGateDeps;
  readonly #gapMs: number;
  readonly #lateMs: number;
  /** The slots reserved here, all times in the clock's elapsed time. */
  #slots = { first: -Infinity, count: 0 };
  /** When no slot could be reserved, since others are first. */
  #heldUntil = -Infinity;
  #tookMs = 0;
  #asking: Promise<void> | undefined;
  readonly #asksForKeys: boolean;
  /** What waits for its key, and then for its slot. */
  readonly #entered = new Set<GatedWork>();

  constructor(handler: LimitedHandler, deps: RateGateDeps) {
    this.#handler = handler;
    this.#deps = deps;
    this.#asksForKeys = handler.key !== undefined && (deps.store.holdKey !== undefined || handler.only !== undefined);
    this.#gapMs = gapOf(handler.rate);
    this.#lateMs = slackOf(handler.rate) - CLOCK_ERROR_MS;
  }

  /** Work that waits for long is left to all processes. */
  get keeps(): "handler" | "in_store" {
    return this.#now < this.#heldUntil ? "in_store" : "handler";
  }

  allows(): boolean {
    return this.#opensAt <= this.#now;
  }

  /** In whole milliseconds, as timers go. */
  get #opensAt(): number {
    if (this.#asksForKeys) return this.#entered.size < runsSoon(this.#handler.rate) ? this.#heldUntil : Infinity;
    const { first, count } = this.#inTime;
    return count > 0 ? Math.ceil(first) : Infinity;
  }

  enter(lease: GatedWork, asked: Promise<boolean> | undefined): Promise<boolean> | undefined {
    if (this.#asksForKeys) return this.#enterFirst(lease, asked);
    this.#take();
    return undefined;
  }

  leave(lease: GatedWork): void {
    this.#entered.delete(lease);
  }

  seek(): number {
    const isReserved = this.#asksForKeys || this.#inTime.count > 0;
    const waiting = this.#deps.lane.window.waiting.length;
    if (!isReserved) void this.#reserve(Math.ceil(waiting / (this.#handler.batch?.max ?? 1)));
    return this.#opensAt;
  }

  /** With its key and its place, the work waits for its slot. False where none is free soon. */
  async #enterFirst(lease: GatedWork, asked: Promise<boolean> | undefined): Promise<boolean> {
    const { clock, lane } = this.#deps;
    const { signal } = lane.closing;
    this.#entered.add(lease);
    if (asked !== undefined && !(await asked)) return false;
    while (!signal.aborted) {
      const { first, count } = this.#inTime;
      if (count === 0) {
        await this.#reserve(this.#entered.size);
        if (this.#now < this.#heldUntil) return false;
      } else if (Math.ceil(first) > this.#now) {
        await sleep(clock, Math.ceil(first) - this.#now, signal).catch(() => undefined);
      } else {
        this.#take();
        this.#entered.delete(lease);
        if (count === 1) this.#hold();
        lane.look();
        return true;
      }
    }
    return false;
  }

  #take(): void {
    const { first, count } = this.#inTime;
    this.#slots = { first: first + this.#gapMs, count: count - 1 };
  }

  get #now(): number {
    return elapsedBy(this.#deps.clock);
  }

  /** The slots without those that are over. */
  get #inTime(): { first: number; count: number } {
    const { first, count } = this.#slots;
    const over = Math.max(0, Math.ceil((this.#now - this.#lateMs - first) / this.#gapMs));
    return over === 0 ? this.#slots : { first: first + over * this.#gapMs, count: Math.max(0, count - over) };
  }

  /** At least one, and as many as begin soon. Never rejects. */
  #reserve(count: number): Promise<void> {
    return (this.#asking ??= this.#ask(Math.min(count, runsSoon(this.#handler.rate))));
  }

  async #ask(count: number): Promise<void> {
    const { store, clock, logger, lane } = this.#deps;
    const { name: handler } = this.#handler;
    const [gapMs, asked, now] = [this.#gapMs, this.#now, clock.now()];
    // A slot that is over before its reservation is known would be lost, and so would the next.
    const at = now + Math.min(this.#tookMs, RESERVED_AHEAD_MS);
    const reserved = await store.reserveRuns({ handler, gapMs, count, now: at }).catch((error: unknown) => {
      logger.error({ handler, ...errorFields(error, true) }, "handler_queue_failed");
      return { first: at + FAILED_WAIT_MS, count: 0 };
    });
    this.#asking = undefined;
    this.#tookMs = this.#now - asked;
    // The wall clock may have been set since the last run.
    const first = Math.max(reserved.first - now + asked, this.#slots.first);
    this.#slots = { first, count: reserved.count };
    if (reserved.count > 0) lane.look();
    else this.#hold();
  }

  /** No slot is left, and the next may be reserved later. */
  #hold(): void {
    const { lane } = this.#deps;
    this.#heldUntil = Math.ceil(this.#slots.first - RESERVED_AHEAD_MS);
    if (this.#heldUntil < this.#now) return lane.look();
    // A timer may end early by a fraction of a millisecond. Only work that was not given back needs no other look.
    lane.lookTimer.setTo(this.#heldUntil + 1);
    lane.wakeTimer.setTo(this.#heldUntil + 1);
  }
}
