import type { Clock } from "../../base/clock.js";
import type { Gate, GatedWork, WorkEnd } from "../gate.js";

/** A new object for each change. */
interface Hold {
  readonly until: number;
  /** The store knows of it. */
  readonly isStored: boolean;
}

/** A run of the handler has asked with RetryAfter that none of its work begins before a time. */
export class RetryAfterGate implements Gate {
  readonly name = "retry_after";
  readonly keeps = "in_store";
  readonly #clock: Clock;
  readonly #holds = new Map<string, Hold>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  allows({ handler }: GatedWork): boolean {
    return this.#clock.now() >= (this.#holds.get(handler)?.until ?? 0);
  }

  leave({ handler }: GatedWork, ends: readonly WorkEnd[]): void {
    for (const { settlement } of ends) {
      if (typeof settlement !== "object" || settlement.to !== "pending" || settlement.wait?.holds !== "handler")
        continue;
      const until = Math.max(settlement.dueAt, this.#holds.get(handler)?.until ?? 0);
      this.#holds.set(handler, { until, isStored: false });
    }
  }

  /** The run that holds the handler is settled. */
  noteStored(handler: string): void {
    const hold = this.#holds.get(handler);
    if (hold !== undefined) this.#holds.set(handler, { ...hold, isStored: true });
  }

  /**
   * The store is asked for work. Its answer says until when the handler is held: a person may have ended the wait, or
   * another process begun one. It says nothing about a hold that was not stored when it was asked.
   */
  ask(handler: string): (until: number | undefined) => void {
    const asked = this.#holds.get(handler);
    return (until) => {
      if (this.#holds.get(handler) !== asked || asked?.isStored === false) return;
      if (until === undefined) this.#holds.delete(handler);
      else this.#holds.set(handler, { until, isStored: true });
    };
  }
}
