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

/** When an endpoint was off, oldest first. `changes`: those of the endpoint, oldest first. */
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

/**
 * The changes of an endpoint since a time, ISO 8601, oldest first. That list may not be there, or not for this key:
 * then only what the endpoint itself says is known.
 */
export async function listChanges(
  client: Pick<Client, "webhooks">,
  { id, since, signal }: { id: string; since: string; signal: AbortSignal | undefined },
): Promise<WebhookActivity[]> {
  const changes: WebhookActivity[] = [];
  try {
    for await (const change of client.webhooks.activity({ since, limit: 100 }, { signal })) {
      if (change.endpointId === id) changes.push(change);
    }
  } catch (error) {
    if (!(error instanceof ApiError) || (error.status !== 403 && error.status !== 404)) throw error;
    return [];
  }
  return changes.toReversed();
}
