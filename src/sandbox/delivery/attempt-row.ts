import type { WebhookDelivery } from "../../contract/webhook-endpoint.js";
import type { DeliveryFault } from "./delivery-faults.js";

/** What is delivered: an event, a test (docs/service.md#test-deliveries), or a replayed event. */
export type DeliveryKind = "event" | "test" | "replay";

/** One attempt in the delivery log. */
export interface AttemptRow {
  /** 24 hex digits; the id for a replay. */
  id: string;
  /** Id of the endpoint, `whe_` and 24 hex digits. */
  endpointId: string;
  /** The same for all attempts of a delivery. */
  deliveryId: string;
  /** Whether an event, a test or a replay was delivered. */
  kind: DeliveryKind;
  /**
   * 1 for the first attempt of the delivery, at most 8; see docs/service.md#retries. 0 for an event that was not sent,
   * since its endpoint was switched off.
   */
  attempt: number;
  /** `delivered` for an answer of 2xx, otherwise `failed`; see docs/service.md#delivery-log. */
  status: "delivered" | "failed";
  /** HTTP status of the answer; null if there was none. */
  responseCode: number | null;
  /** What a receiver of this package made of the delivery, such as `parked`; null if the answer does not say. */
  outcome: string | null;
  /** Content-Type of the answer; null if there is none. */
  contentType: string | null;
  /** From the start of the attempt to its end, in milliseconds. */
  durationMs: number;
  /** Why it failed; null if it was delivered. */
  error: string | null;
  /** Id of the event, in the envelope's `id`. */
  eventId: string;
  /** Type of the event, such as `email.bounced`. */
  eventType: string;
  /** When the attempt began, ISO 8601. */
  createdAt: string;
  /** When the delivery is tried again, ISO 8601; null if it is not. */
  nextAttemptAt: string | null;
  /** The injected fault; null if there was none. */
  fault: DeliveryFault["kind"] | null;
}

/** The row as it is sent. The fields other than status, responseCode, durationMs and error are assumed. */
export function attemptBody(row: AttemptRow): WebhookDelivery {
  const { id, endpointId, attempt, kind, status, responseCode, durationMs, error, eventId, eventType, createdAt } = row;
  return { id, endpointId, attempt, kind, status, responseCode, durationMs, error, eventId, eventType, createdAt };
}

/** The result of an attempt, as in the answer to a test or replay; null when its endpoint was deleted meanwhile. */
export function outcomeBody(row: AttemptRow | undefined) {
  if (row === undefined) return null;
  const { status, responseCode, durationMs, error } = row;
  return { status, responseCode, durationMs, error };
}
