import { type Clock, elapsedBy } from "../../base/clock.js";
import type { Gate, GatedWork } from "../gate.js";
import type { Batching } from "../handler.js";
import type { LeaseWindow } from "../lease-window.js";

/** A batch waits for more events, unless it is full or has waited for long enough. One gate per handler. */
export class BatchGate implements Gate {
  readonly name = "batch";
  readonly keeps = "handler";
  readonly #window: LeaseWindow;
  readonly #limits: Batching;
  readonly #clock: Clock;
  /** What has come until then waits for no more, in the clock's elapsed time. */
  #endedAt = -Infinity;

  constructor(window: LeaseWindow, limits: Batching, clock: Clock) {
    this.#window = window;
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Work that a process died in waits for no other: it runs alone. */
  allows({ crashes = 0 }: GatedWork): boolean {
    const { waiting } = this.#window;
    return crashes > 0 || waiting.length >= this.#limits.max || elapsedBy(this.#clock) >= this.seek();
  }

  seek(): number {
    const since = this.#window.waiting[0]?.lease.since ?? Infinity;
    return since <= this.#endedAt ? since : since + this.#limits.waitMs;
  }

  /** What waits may begin now. */
  endWait(): void {
    this.#endedAt = elapsedBy(this.#clock);
  }
}
