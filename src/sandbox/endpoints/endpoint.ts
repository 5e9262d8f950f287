import type { WebhookEndpoint } from "../../contract/webhook-endpoint.js";

/** A webhook endpoint as the sandbox stores it. See docs/service.md#endpoint. */
export interface Endpoint {
  readonly id: string;
  /** Increases with every endpoint: its position in the order of creation. */
  readonly sequence: number;
  readonly createdAtMs: number;
  url: string;
  description: string | null;
  /** Empty means the default set. */
  eventTypes: readonly string[];
  addressAllowlist: readonly string[];
  domainAllowlist: readonly string[];
  enabled: boolean;
  disabledAtMs: number | null;
  disabledReason: string | null;
  consecutiveFailures: number;
  lastDeliveryAtMs: number | null;
  /** SECRET: in the answers to creation and rotation only. */
  secret: string;
}

/** The endpoint as it is sent, without its secret. */
export function endpointBody(endpoint: Endpoint): WebhookEndpoint {
  const { id, url, description, eventTypes, enabled, consecutiveFailures, disabledReason } = endpoint;
  return {
    id,
    url,
    description,
    eventTypes: eventTypes.length === 0 ? ["*"] : [...eventTypes],
    enabled,
    disabledAt: isoOrNull(endpoint.disabledAtMs),
    disabledReason,
    consecutiveFailures,
    addressAllowlist: [...endpoint.addressAllowlist],
    domainAllowlist: [...endpoint.domainAllowlist],
    lastDeliveryAt: isoOrNull(endpoint.lastDeliveryAtMs),
    createdAt: new Date(endpoint.createdAtMs).toISOString(),
  };
}

function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
