import { SECOND } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import { waitingClock } from "../base/waiting-clock.js";
import type { StoredEvent } from "./contact-events/event-log.js";
import type { ContactEventWait } from "./sandbox.js";
import { checkTimeout, sandboxClosed } from "./wait-for.js";

interface Waiting {
  onEvent(event: StoredEvent): void;
  fail(error: PigeonholeError): void;
}

/** Contact events that somebody waits for. They come from a receiver's own work, so the wait takes real time. */
export class ContactEventWaits {
  readonly #waiting = new Set<Waiting>();
  #isClosed = false;

  /** Tells of an event. */
  tell(event: StoredEvent): void {
    for (const waiting of this.#waiting) waiting.onEvent(event);
  }

  /** The sandbox is closed: nobody waits for what comes now. */
  close(): void {
    this.#isClosed = true;
    for (const waiting of this.#waiting) waiting.fail(sandboxClosed());
  }

  /** The first of `held` that fits, or the next one to come; rejects with `wait_timeout`, or `stopped` when it is closed. */
  async wait(held: readonly StoredEvent[], wait: ContactEventWait): Promise<StoredEvent> {
    const { name, email } = wait;
    const timeoutMs = checkTimeout(wait.timeoutMs ?? 10 * SECOND);
    const fits = (event: StoredEvent): boolean =>
      (name === undefined || event.name === name) &&
      (email === undefined || event.email.toLowerCase() === email.toLowerCase());
    const found = held.find(fits);
    if (found !== undefined) return found;
    if (this.#isClosed) throw sandboxClosed();
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        timer.cancel();
        this.#waiting.delete(waiting);
        settle();
      };
      const waiting: Waiting = {
        onEvent(event) {
          if (fits(event)) end(() => resolve(event));
        },
        fail: (error) => end(() => reject(error)),
      };
      const text = `No such contact event within ${timeoutMs} ms; ${held.length} were held before.`;
      const timer = waitingClock.setTimer(() => waiting.fail(new PigeonholeError("wait_timeout", text)), timeoutMs);
      this.#waiting.add(waiting);
    });
  }
}
