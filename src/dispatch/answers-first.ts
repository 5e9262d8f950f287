import type { ReadyWork } from "./lease-window.js";

type Begin = () => void;

/**
 * Lets no run begin before the answer of its delivery is with the socket: a handler that blocks its thread must not
 * delay it. A mount writes the answers of all events of a commit in the turn of the event loop in which the store has
 * taken them, and runs begin after that turn.
 */
export class AnswersFirst {
  /** Events being stored whose work a page of the store may contain before, and the runs that wait. */
  readonly #held = new Map<string, Begin[]>();

  /** Runs of the event wait for {@link release}. */
  hold(eventId: string): void {
    // The same event may come twice at once: the answer that is first lets its runs begin.
    if (!this.#held.has(eventId)) this.#held.set(eventId, []);
  }

  /** The store has taken the event, or has failed. */
  release(eventId: string): void {
    for (const begin of this.#held.get(eventId) ?? []) setImmediate(begin);
    this.#held.delete(eventId);
  }

  /** Begins runs of work that was found in the store. */
  begin(page: readonly ReadyWork[], begin: (ready: ReadyWork) => void): void {
    setImmediate(() => {
      for (const ready of page) {
        const held = this.#held.get(ready.work.eventId);
        if (held === undefined) begin(ready);
        else held.push(() => begin(ready));
      }
    });
  }
}
