import { SECOND } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import { waitingClock } from "../base/waiting-clock.js";
import type { StoredEvent } from "./contact-events/event-log.js";
import type { ContactEventWait } from "./sandbox.js";

/** Contact events that somebody waits for. They come from a receiver's own work, so the wait takes real time. */
export class ContactEventWaits {
  readonly #waiting = new Set<(event: StoredEvent) => void>();

  /** Tells of an event. */
  tell(event: StoredEvent): void {
    for (const onEvent of this.#waiting) onEvent(event);
  }

  /** The first of `held` that fits, or the next one to come; rejects with `wait_timeout`. */
  wait(held: readonly StoredEvent[], wait: ContactEventWait): Promise<StoredEvent> {
    const { name, email, timeoutMs = 10 * SECOND } = wait;
    const fits = (event: StoredEvent): boolean =>
      (name === undefined || event.name === name) &&
      (email === undefined || event.email.toLowerCase() === email.toLowerCase());
    const found = held.find(fits);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve, reject) => {
      const timer = waitingClock.setTimer(() => {
        this.#waiting.delete(onEvent);
        const text = `No such contact event within ${timeoutMs} ms; ${held.length} were held before.`;
        reject(new PigeonholeError("wait_timeout", text));
      }, timeoutMs);
      const onEvent = (event: StoredEvent): void => {
        if (!fits(event)) return;
        timer.cancel();
        this.#waiting.delete(onEvent);
        resolve(event);
      };
      this.#waiting.add(onEvent);
    });
  }
}
