import { PigeonholeError } from "../base/error.js";

/** So many interruptions in a row of one piece of work do not count: its own runs may be what keeps the store busy. */
const MAX_IN_A_ROW = 2;
/** Of more pieces of work, the first are forgotten: another process may have ended them. */
const MAX_KEPT = 10_000;

/** The work of one handler under whose last runs in this process the store has failed. */
export class Interruptions {
  /** How often in a row, by the event's place in the order of acceptance. */
  readonly #inARow = new Map<number, number>();

  /** The store has failed under a run: returns why it counts as failed, if it does. */
  note(seq: number, failure: PigeonholeError): PigeonholeError | undefined {
    const inARow = (this.#inARow.get(seq) ?? 0) + 1;
    this.end(seq);
    this.#inARow.set(seq, inARow);
    this.#dropFirst();
    return inARow > MAX_IN_A_ROW ? countedFailure(failure, inARow) : undefined;
  }

  /** A run has ended and was settled. */
  end(seq: number): void {
    this.#inARow.delete(seq);
  }

  #dropFirst(): void {
    if (this.#inARow.size <= MAX_KEPT) return;
    for (const seq of this.#inARow.keys()) return this.end(seq);
  }
}

function countedFailure(failure: PigeonholeError, inARow: number): PigeonholeError {
  const text =
    `The store failed under ${inARow} runs in a row, so the last one counts. ${failure.message} If the store is well, ` +
    "see whether the handler itself holds the lock or the connection that it waits for.";
  return new PigeonholeError(failure.code, text, { cause: failure });
}
