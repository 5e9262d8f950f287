import type { Clock } from "../../base/clock.js";
import { PigeonholeError } from "../../base/error.js";

export interface Wait<Item> {
  /** What there is already; the first that fits ends the wait. */
  stored: readonly Item[];
  fits: (item: Item) => boolean;
  timeoutMs: number;
  clock: Clock;
  /** The error message if nothing matched in time. */
  timeoutText: () => string;
}

interface Waiting<Item> {
  onItem(item: Item): void;
  fail(error: PigeonholeError): void;
}

/** Waits for the next item of the sandbox, an attempt or a contact event, that fits. */
export class EventWaiter<Item> {
  readonly #waiting = new Set<Waiting<Item>>();
  #isClosed = false;

  /** Passes an item to every wait. */
  emit(item: Item): void {
    for (const waiting of this.#waiting) waiting.onItem(item);
  }

  /** The sandbox is closed: every wait fails. */
  close(): void {
    this.#isClosed = true;
    for (const waiting of this.#waiting) waiting.fail(sandboxClosed());
  }

  /** The first item that fits, or the next one; rejects with `wait_timeout`, or `stopped` once it is closed. */
  wait({ stored, fits, timeoutMs, clock, timeoutText }: Wait<Item>): Promise<Item> {
    const found = stored.find(fits);
    if (found !== undefined) return Promise.resolve(found);
    if (this.#isClosed) return Promise.reject(sandboxClosed());
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        timer.cancel();
        this.#waiting.delete(waiting);
        settle();
      };
      const waiting: Waiting<Item> = {
        onItem(item) {
          if (fits(item)) end(() => resolve(item));
        },
        fail: (error) => end(() => reject(error)),
      };
      const timer = clock.setTimer(() => waiting.fail(new PigeonholeError("wait_timeout", timeoutText())), timeoutMs);
      this.#waiting.add(waiting);
    });
  }
}

/** Nothing more will come. */
export function sandboxClosed(): PigeonholeError {
  return new PigeonholeError("stopped", "The sandbox was closed.");
}
