import type { Client } from "../../client/call-types.js";
import type { WebhookEndpoint } from "../../contract/webhook-endpoint.js";

/** Lists the endpoints of the workspace, which several looks need: once, however often it is asked. */
export type EndpointList = (client: Client, signal: AbortSignal) => Promise<readonly WebhookEndpoint[]>;

export function createEndpointList(): EndpointList {
  let listed: Promise<readonly WebhookEndpoint[]> | undefined;
  return (client, signal) => (listed ??= listAll(client, signal));
}

async function listAll({ webhooks }: Client, signal: AbortSignal): Promise<readonly WebhookEndpoint[]> {
  const endpoints: WebhookEndpoint[] = [];
  for await (const endpoint of webhooks.list({ limit: 100 }, { signal })) endpoints.push(endpoint);
  return endpoints;
}
