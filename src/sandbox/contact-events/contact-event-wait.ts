import { SECOND } from "../../base/duration.js";
import { type OptionsOf, defineOptions, given } from "../../base/options.js";
import { waitingClock } from "../../base/clock.js";
import type { StoredEvent } from "./event-log.js";
import { checkTimeout } from "../delivery/attempt-wait.js";
import type { EventWaiter } from "../delivery/event-waiter.js";
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

/**
 * The first of `stored` that matches, or the next one that arrives. These come from a receiver's own work, so the wait
 * takes real time. Rejects like the waiter.
 */
export async function waitForContactEvent(
  waiter: EventWaiter<StoredEvent>,
  stored: readonly StoredEvent[],
  wait: ContactEventWait,
): Promise<StoredEvent> {
  const { name, email, timeoutMs } = CONTACT_EVENT_WAIT_OPTIONS.resolve(wait);
  checkTimeout(timeoutMs);
  const fits = (event: StoredEvent): boolean =>
    (name === undefined || event.name === name) && (email === undefined || event.email === foldAddress(email));
  const text = `No such contact event within ${timeoutMs} ms; ${stored.length} were stored before.`;
  return waiter.wait({ stored, fits, timeoutMs, clock: waitingClock, timeoutText: () => text });
}
