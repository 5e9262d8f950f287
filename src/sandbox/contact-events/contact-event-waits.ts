import { SECOND } from "../../base/duration.js";
import { type OptionsOf, defineOptions, given } from "../../base/options.js";
import { waitingClock } from "../../base/clock.js";
import type { StoredEvent } from "./event-log.js";
import { checkTimeout } from "../delivery/attempt-waits.js";
import { EventWaiter } from "../delivery/event-waiter.js";
import { foldAddress } from "../../contract/contact-address.js";

/** The filter for a contact event to wait for. */
export interface ContactEventWait {
  /** Name of the event, compared exactly. @default any */
  name?: string | undefined;
  /** Address of the contact, compared without case. @default any */
  email?: string | undefined;
  /** Longest wait in milliseconds of real time. @default 10,000 */
  timeoutMs?: number | undefined;
}

/** The fields of {@link ContactEventWait}, with the default. */
export const CONTACT_EVENT_WAIT_OPTIONS = defineOptions("sandbox.waitForContactEvent", {
  name: given<string>(),
  email: given<string>(),
  timeoutMs: given({ default: 10 * SECOND }),
} satisfies OptionsOf<ContactEventWait>);

/** Waits for contact events. These come from a receiver's own work, so the wait takes real time. */
export class ContactEventWaits {
  readonly #waiter = new EventWaiter<StoredEvent>();

  /** Passes an event to the waits. */
  emit(event: StoredEvent): void {
    this.#waiter.emit(event);
  }

  /** The sandbox is closed: every wait ends. */
  close(): void {
    this.#waiter.close();
  }

  /**
   * The first of `stored` that matches, or the next one that arrives; rejects with `wait_timeout`, or `stopped` when it
   * is closed.
   */
  async wait(stored: readonly StoredEvent[], wait: ContactEventWait): Promise<StoredEvent> {
    const { name, email, timeoutMs } = CONTACT_EVENT_WAIT_OPTIONS.resolve(wait);
    checkTimeout(timeoutMs);
    const fits = (event: StoredEvent): boolean =>
      (name === undefined || event.name === name) && (email === undefined || event.email === foldAddress(email));
    const found = stored.find(fits);
    if (found !== undefined) return found;
    const text = `No such contact event within ${timeoutMs} ms; ${stored.length} were stored before.`;
    return this.#waiter.wait({ fits, timeoutMs, clock: waitingClock, timeoutText: () => text });
  }
}
