import type { Client } from "../client/call-types.js";
import { ApiError } from "../client/errors.js";
import type { WebhookActivity, WebhookEndpoint } from "../contract/webhook-endpoint.js";

/** A time in which an endpoint was off. Events that were fired in it are delivered to it neither then nor later. */
export interface OffPeriod {
  /** ISO 8601; null when it began before the time asked for, or when the service does not say. */
  from: string | null;
  /** ISO 8601; null when the endpoint was still off. */
  until: string | null;
}

/** What is asked of the service. */
export interface OffPeriodsRequest {
  client: Pick<Client, "webhooks">;
  /** As it is now. */
  endpoint: WebhookEndpoint;
  /** ISO 8601. */
  since: string;
  signal: AbortSignal | undefined;
}

/**
 * When an endpoint was off since a time, oldest first, from the list of changes. That list may not be there, or not for
 * this key: then only what the endpoint itself says is known.
 */
export async function findOffPeriods(request: OffPeriodsRequest): Promise<OffPeriod[]> {
  return readOffPeriods(await listChanges(request), request.endpoint);
}

/** `changes`: those of the endpoint, oldest first. */
export function readOffPeriods(
  changes: readonly WebhookActivity[],
  { enabled, disabledAt }: Pick<WebhookEndpoint, "enabled" | "disabledAt">,
): OffPeriod[] {
  const switches = changes.filter(({ kind }) => kind === "enabled" || kind === "disabled");
  const periods: OffPeriod[] = [];
  let open: Pick<OffPeriod, "from"> | undefined = switches[0]?.kind === "enabled" ? { from: null } : undefined;
  for (const { kind, createdAt } of switches) {
    if (kind === "disabled") open ??= { from: createdAt };
    else if (open !== undefined) {
      periods.push({ ...open, until: createdAt });
      open = undefined;
    }
  }
  return enabled ? periods : [...periods, { from: open?.from ?? disabledAt, until: null }];
}

async function listChanges({ client, endpoint, since, signal }: OffPeriodsRequest): Promise<WebhookActivity[]> {
  const changes: WebhookActivity[] = [];
  try {
    for await (const change of client.webhooks.activity({ since, limit: 100 }, { signal })) {
      if (change.endpointId === endpoint.id) changes.push(change);
    }
  } catch (error) {
    if (!(error instanceof ApiError) || (error.status !== 403 && error.status !== 404)) throw error;
    return [];
  }
  return changes.toReversed();
}
