import type { WebhookEndpoint } from "../../contract/webhook-endpoint.js";
import type { Allowlists } from "../access/allowlists.js";

/** A webhook endpoint as the sandbox stores it. See docs/service.md#endpoint. */
export interface Endpoint extends Allowlists {
  readonly id: string;
  readonly createdAt: string;
  url: string;
  description: string | null;
  /** Empty means the default set. */
  eventTypes: readonly string[];
  enabled: boolean;
  disabledAt: string | null;
  disabledReason: string | null;
  consecutiveFailures: number;
  lastDeliveryAt: string | null;
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
