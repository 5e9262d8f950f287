import { PigeonholeError } from "../base/error.js";

export function notOpen(): PigeonholeError {
  return new PigeonholeError("stopped", "The store is not open; start the receiver first, or call open().");
}

/** Opens and closes a store in turn: an opening waits for the close before, and a close for what was opened. */
export class OpeningTurns {
  /** Concurrent callers share one opening; what a second one opened would never be closed. */
  #opening: Promise<void> | undefined;
  #closing = Promise.resolve();

  /** `begin` is called when the close before has ended, even if that failed: files and locks are free then. */
  open(begin: () => Promise<void>): Promise<void> {
    if (this.#opening !== undefined) return this.#opening;
    const mine = this.#closing.catch(() => undefined).then(begin);
    this.#opening = mine;
    mine.catch(() => {
      if (this.#opening === mine) this.#opening = undefined;
    });
    return mine;
  }

  /** `end` is called with the opening, which may be in progress, unless nothing was opened. */
  close(end: (opening: Promise<void>) => Promise<void>): Promise<void> {
    if (this.#opening !== undefined) {
      this.#closing = end(this.#opening);
      this.#opening = undefined;
    }
    return this.#closing;
  }
}
