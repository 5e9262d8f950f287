import { type Clock, elapsedBy } from "../../base/clock.js";
import type { EarliestTimer } from "../earliest-timer.js";
import type { Gate, GatedWork } from "../gate.js";
import { type Rate, SOON_MS, gapOf, slackOf } from "../run-rate.js";
import type { RunResult } from "../runner.js";

/**
 * Runs of the handler in this process begin one after another, each a gap after the one before. One that begins late,
 * as the process was busy, leaves that time to the next, up to the slack. One gate per handler.
 */
export class RateGate implements Gate {
  readonly name = "rate";
  readonly #clock: Clock;
  readonly #wakeTimer: EarliestTimer;
  readonly #gapMs: number;
  readonly #slackMs: number;
  /** The turn of the next run, in the clock's elapsed time. */
  #next = -Infinity;
  #last: GatedWork | undefined;

  /** `wakeTimer` leases again. */
  constructor(rate: Rate, clock: Clock, wakeTimer: EarliestTimer) {
    this.#clock = clock;
    this.#wakeTimer = wakeTimer;
    this.#gapMs = gapOf(rate);
    this.#slackMs = slackOf(rate);
  }

  /** What would wait for long goes back to the store. */
  get keeps(): "handler" | "in_store" {
    return this.#next - this.#now > SOON_MS ? "in_store" : "handler";
  }

  allows(): boolean {
    return this.#now >= this.seek();
  }

  enter(work: GatedWork): undefined {
    this.#last = work;
    this.#next = Math.max(this.#next, this.#now - this.#slackMs) + this.#gapMs;
    // A timer may end early by a fraction of a millisecond.
    if (this.keeps === "in_store") this.#wakeTimer.setTo(this.seek() - SOON_MS + 1);
  }

  /** Work that did not run leaves its turn to the next, unless that has begun. */
  leave(work: GatedWork, result: RunResult | undefined): void {
    if (result === undefined && work === this.#last) this.#next -= this.#gapMs;
  }

  /** In whole milliseconds, as timers go. */
  seek(): number {
    return Math.ceil(this.#next);
  }

  endWait(): void {
    this.#next = -Infinity;
  }

  get #now(): number {
    return elapsedBy(this.#clock);
  }
}
