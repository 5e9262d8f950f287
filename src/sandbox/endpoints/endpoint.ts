import type { Contract } from "../../contract/contract.js";
import type { ResultFields } from "../../contract/operation.js";
import type { WebhookEndpoint } from "../../contract/webhook-endpoint.js";
import { DEFAULT_EVENT_TYPES } from "../../protocol/event-types.js";
import { type Allowlists, coversAddress, isUnlimited } from "../access/allowlists.js";
import { bareAddresses } from "../api/addresses.js";

type EndpointFields = ResultFields<Contract["webhooks"]["get"]>;

/** A webhook endpoint as the sandbox stores it. See docs/service.md#endpoint. */
export interface Endpoint extends Allowlists, Omit<EndpointFields, "eventTypes" | keyof Allowlists> {
  /** Empty means the default set. */
  eventTypes: readonly string[];
  /** SECRET: in the answers to creation and rotation only. */
  secret: string;
}

/** The endpoint as it is sent, without its secret. */
export function endpointBody(endpoint: Endpoint): WebhookEndpoint {
  const { secret: _, eventTypes, addressAllowlist, domainAllowlist, ...fields } = endpoint;
  return {
    ...fields,
    eventTypes: eventTypes.length === 0 ? ["*"] : [...eventTypes],
    addressAllowlist: [...addressAllowlist],
    domainAllowlist: [...domainAllowlist],
  };
}

/** The same with its secret, which the receiver needs. */
export function withSecret(endpoint: Endpoint): WebhookEndpoint & { secret: string } {
  return { ...endpointBody(endpoint), secret: endpoint.secret };
}

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
 * The workspace's addresses that an event names: the sender of an outgoing mail, the recipients of an incoming one, or
 * the address that a file arrived at. The field of `data` is assumed, since `data` is not documented. Events of other
 * kinds name none, and neither does that of a file of the whole workspace.
 */
export function addressesOf(type: string, data: Readonly<Record<string, unknown>>): string[] {
  const fields = addressFieldsOf(type).map((field) => data[field]);
  return bareAddresses(fields.flat().filter((value) => typeof value === "string"));
}

function addressFieldsOf(type: string): string[] {
  if (type.startsWith("file.")) return ["deliveredTo"];
  if (type === "email.received" || type === "email.replied") return ["to", "cc"];
  return type.startsWith("email.") ? ["from"] : [];
}
