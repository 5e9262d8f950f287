import type { Clock } from "../../base/clock.js";
import type { Gate, GatedWork } from "../gate.js";
import type { RunResult } from "../runner.js";

interface Hold {
  until: number;
  /** The first question to the store whose answer knows of the hold; infinite until it is stored. */
  knownFrom: number;
}

/** A run of the handler has asked with RetryAfter that none of its work begins before a time. */
export class RetryAfterGate implements Gate {
  readonly name = "retry_after";
  readonly keeps = "in_store";
  readonly #clock: Clock;
  readonly #holds = new Map<string, Hold>();
  #questions = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  allows({ handler }: GatedWork): boolean {
    const hold = this.#holds.get(handler);
    return hold === undefined || this.#clock.now() >= hold.until;
  }

  leave({ handler }: GatedWork, result: RunResult | undefined): void {
    const settlement = result?.settlement;
    if (typeof settlement !== "object" || settlement.to !== "pending" || settlement.wait?.holds !== "handler") return;
    const until = Math.max(settlement.dueAt, this.#holds.get(handler)?.until ?? 0);
    this.#holds.set(handler, { until, knownFrom: Infinity });
  }

  /** The run that holds the handler is settled. */
  noteStored(handler: string): void {
    const hold = this.#holds.get(handler);
    if (hold?.knownFrom === Infinity) hold.knownFrom = this.#questions + 1;
  }

  /** The number of a question to the store. */
  ask(): number {
    return (this.#questions += 1);
  }

  /** The answer: until when the handler is held. A person may have ended the wait, or another process begun one. */
  noteAnswer(handler: string, question: number, until: number | undefined): void {
    if (question < (this.#holds.get(handler)?.knownFrom ?? 0)) return;
    if (until === undefined) this.#holds.delete(handler);
    else this.#holds.set(handler, { until, knownFrom: 0 });
  }
}
