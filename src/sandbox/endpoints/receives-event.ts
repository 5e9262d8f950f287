import { DEFAULT_EVENT_TYPES } from "../../protocol/event-types.js";
import { type Allowlists, coversAddress, isUnlimited } from "./allowlists.js";
import type { Endpoint } from "./endpoint.js";

/** The fields of an event that decide which endpoints receive it. */
export interface Audience {
  type: string;
  /** The workspace's addresses that it names; empty when it names none. */
  addresses: readonly string[];
}

const defaultTypes: ReadonlySet<string> = new Set(DEFAULT_EVENT_TYPES);

/**
 * True when the endpoint, switched on, is sent the event. See docs/service.md#event-types and
 * docs/service.md#allowlists.
 */
export function receivesEvent(endpoint: Pick<Endpoint, "eventTypes" | keyof Allowlists>, event: Audience): boolean {
  const { eventTypes } = endpoint;
  const subscribed = eventTypes.length === 0 ? defaultTypes.has(event.type) : eventTypes.includes(event.type);
  if (!subscribed) return false;
  if (isUnlimited(endpoint)) return true;
  if (event.type.startsWith("form.")) return false;
  return event.addresses.length === 0 || event.addresses.some((address) => coversAddress(endpoint, address));
}

/**
 * The workspace's addresses that an event names: the sender of an outgoing mail, or the recipients of an incoming one.
 * The field of `data` is assumed, since `data` is not documented. Events of other kinds name none.
 */
export function addressesOf(type: string, data: Readonly<Record<string, unknown>>): string[] {
  if (!type.startsWith("email.")) return [];
  const isIncoming = type === "email.received" || type === "email.replied";
  const named = isIncoming ? [data["to"], data["cc"]] : [data["from"]];
  return named.flat().filter((address) => typeof address === "string");
}
