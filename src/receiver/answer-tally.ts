import { ANSWERS, type Outcome, type OutcomeKind } from "../protocol/outcome.js";
import { LIMITS } from "../protocol/limits.js";
import type { Alarms } from "./alarms.js";

/** The alarm comes at every twentieth failure in a row. */
const ALARM_EVERY = 20;

/** Counts what the service heard, and how near it is to switching the endpoint off. */
export class AnswerTally {
  readonly #alarms: Alarms;
  readonly #counts = new Map<OutcomeKind, number>();
  #failuresInARow = 0;

  constructor(alarms: Alarms) {
    this.#alarms = alarms;
  }

  add(outcome: Outcome): void {
    this.#counts.set(outcome.kind, (this.#counts.get(outcome.kind) ?? 0) + 1);
    if (outcome.kind === "body_consumed") this.#alarms.raise({ kind: "body_consumed" });
    if (ANSWERS[outcome.kind].status < 300) {
      this.#failuresInARow = 0;
    } else if (mayBeFromTheService(outcome)) {
      this.#failuresInARow += 1;
      if (this.#failuresInARow % ALARM_EVERY === 0) {
        const disablesAt = LIMITS.disableAfterFailures;
        this.#alarms.raise({ kind: "failures_in_a_row", inARow: this.#failuresInARow, disablesAt });
      }
    }
  }

  /** Every outcome since the receiver was made, zeros included. */
  get counts(): Record<OutcomeKind, number> {
    const kinds = Object.keys(ANSWERS) as OutcomeKind[];
    return Object.fromEntries(kinds.map((kind) => [kind, this.#counts.get(kind) ?? 0])) as Record<OutcomeKind, number>;
  }

  get failuresInARow(): number {
    return this.#failuresInARow;
  }
}

/** Strangers and browsers fail too, but only the service counts. */
function mayBeFromTheService(outcome: Outcome): boolean {
  return outcome.kind !== "unsigned" && outcome.kind !== "wrong_method";
}
