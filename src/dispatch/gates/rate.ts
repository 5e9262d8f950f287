import { type Clock, elapsedBy } from "../../base/clock.js";
import type { EarliestTimer } from "../../base/earliest-timer.js";
import { sleep } from "../../base/wait.js";
import { RESERVED_AHEAD_MS } from "../../store/queries/run-slots.js";
import type { Gate, GatedWork } from "../gate.js";
import { type Rate, type RegisteredHandler, gapOf, runsSoon, slackOf } from "../handler.js";
import type { Leases } from "../leases.js";

/** By so much the clocks of two processes may differ once both are converted to the store's. */
const CLOCK_ERROR_MS = 10;

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

export interface RateGateDeps {
  leases: Leases;
  clock: Clock;
  lane: RateLane;
}

/**
 * Runs of the handler begin one after another, in slots of time that the processes of a store reserve from one row.
 * What has passed all other gates waits for its slot. One that is not used in time is lost, and so there is nothing to
 * give back. One gate per handler.
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
  /** Most work that waits for its slot: one piece, unless the store also decides about each, which may take longer. */
  readonly #max: number;
  /** What waits for its key, and then for its slot. */
  readonly #entered = new Set<GatedWork>();

  constructor(handler: LimitedHandler, deps: RateGateDeps) {
    const { rate, key, only } = handler;
    this.#handler = handler;
    this.#deps = deps;
    const asksForKeys = key !== undefined && (deps.leases.shareKeys || only !== undefined);
    this.#max = asksForKeys ? runsSoon(rate) : 1;
    this.#gapMs = gapOf(rate);
    this.#lateMs = slackOf(rate) - CLOCK_ERROR_MS;
  }

  /** Work that waits for long is left to all processes. */
  get keeps(): "handler" | "in_store" {
    return this.#now < this.#heldUntil ? "in_store" : "handler";
  }

  allows(): boolean {
    return this.#now >= this.#heldUntil && this.#entered.size < this.#max;
  }

  /** With its key and its place, the work waits for its slot. False where none is free soon. */
  async enter(lease: GatedWork, asked: Promise<boolean> | undefined): Promise<boolean> {
    const { clock, lane } = this.#deps;
    const { signal } = lane.closing;
    this.#entered.add(lease);
    if (asked !== undefined && !(await asked)) return false;
    while (!signal.aborted) {
      const { first, count } = this.#inTime;
      // In whole milliseconds, as timers go.
      const waitMs = Math.ceil(first) - this.#now;
      if (count === 0) {
        await this.#reserve();
        if (this.#now < this.#heldUntil) return false;
      } else if (waitMs > 0) {
        await sleep(clock, waitMs, signal).catch(() => undefined);
      } else {
        this.#slots = { first: first + this.#gapMs, count: count - 1 };
        this.#entered.delete(lease);
        if (count === 1) this.#hold();
        lane.look();
        return true;
      }
    }
    return false;
  }

  leave(lease: GatedWork): void {
    this.#entered.delete(lease);
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

  /** As many as begin soon of what waits. Never rejects. */
  #reserve(): Promise<void> {
    const { batch, rate } = this.#handler;
    const behind = Math.ceil(this.#deps.lane.window.waiting.length / (batch?.max ?? 1));
    return (this.#asking ??= this.#ask(Math.min(this.#entered.size + behind, runsSoon(rate))));
  }

  async #ask(count: number): Promise<void> {
    const { leases, clock } = this.#deps;
    const [gapMs, asked, now] = [this.#gapMs, this.#now, clock.now()];
    // A slot that is over before its reservation is known would be lost, and so would the next.
    const at = now + Math.min(this.#tookMs, RESERVED_AHEAD_MS);
    const reserved = await leases.reserveRuns({ handler: this.#handler.name, gapMs, count, now: at });
    this.#asking = undefined;
    this.#tookMs = this.#now - asked;
    // The wall clock may have been set since the last run.
    const first = Math.max(reserved.first - now + asked, this.#slots.first);
    this.#slots = { first, count: reserved.count };
    if (reserved.count === 0) this.#hold();
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
