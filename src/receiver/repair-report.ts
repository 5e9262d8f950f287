import type { Client } from "../client/call-types.js";
import { ApiError } from "../client/errors.js";
import type { WebhookActivity, WebhookEndpoint } from "../contract/webhook-endpoint.js";
import type { LostEvent } from "./lost-events.js";

/**
 * Why an event is still missing. `not_replayed`: nothing was replayed, or the repair ended before. `may_repeat`: it may
 * be older than what the inbox knows, or an attempt has delivered it and the inbox has lost it since. `failed`: the
 * receiver did not answer the replay with 2xx. `not_arrived`: it did, or the service does not say, and the inbox does
 * not have the event. `refused`, `gone`: the service does not replay it, or no longer has it.
 */
export type MissingReason = "not_replayed" | "may_repeat" | "failed" | "not_arrived" | "refused" | "gone";

/** An event that the repair did not bring into the inbox. */
export interface MissingEvent extends LostEvent {
  /** Why it is missing. */
  reason: MissingReason;
}

/** What a repair found and did. Of events it names ids and types only. */
export interface RepairReport {
  /** Id of the endpoint. */
  endpointId: string;
  /** Whether the endpoint is on now, as far as the repair knows. */
  enabled: boolean;
  /** True if the repair switched it on. */
  switchedOn: boolean;
  /** Events with a failed attempt since then, as far as the delivery log reaches back. */
  found: number;
  /** Those of them that the inbox lacked. */
  missing: number;
  /** Those of the missing ones that the service was asked to deliver again. */
  replayed: number;
  /** Those of the missing ones that the inbox has now. */
  arrived: number;
  /** The others. */
  stillMissing: MissingEvent[];
  /**
   * Why the repair ended early: the endpoint is off, or the receiver failed to take several events in a row or was one
   * failure away from being switched off, or half the way in a round of the option `repair`. Undefined if it did not.
   */
  stopped: "endpoint_off" | "replays_fail" | undefined;
  /** Rows of the log that name no event, so that they could not be compared with the inbox. */
  unnamedRows: number;
  /** False if the log has no row from before `since`: it may not reach back so far, and older losses are not in it. */
  logReachesBack: boolean;
  /**
   * When the endpoint was off. The log may have no rows of events that were fired then; what it does not have cannot be
   * repaired.
   */
  offPeriods: OffPeriod[];
}

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
