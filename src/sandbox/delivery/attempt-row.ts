import type { WebhookDelivery } from "../../contract/webhook-endpoint.js";
import type { DeliveryFault } from "./delivery-faults.js";

/** What is delivered: an event, a test (docs/service.md#test-deliveries), or a replayed event. */
export type DeliveryKind = "event" | "test" | "replay";

/** One attempt in the delivery log. */
export interface AttemptRow {
  /** 24 hex digits; the id for a replay. */
  id: string;
  endpointId: string;
  /** The same for all attempts of a delivery. */
  deliveryId: string;
  kind: DeliveryKind;
  /** 1 for the first. */
  attempt: number;
  status: "delivered" | "failed";
  /** Null if there was no answer. */
  responseCode: number | null;
  durationMs: number;
  /** Why it failed; null if it was delivered. */
  error: string | null;
  eventId: string;
  eventType: string;
  /** When the attempt began, ISO 8601. */
  createdAt: string;
  /** When the delivery is tried again, ISO 8601; null if it is not. */
  nextAttemptAt: string | null;
  /** The injected fault. */
  fault: DeliveryFault["kind"] | null;
}

/** The row as it is sent. The fields other than status, responseCode, durationMs and error are assumed. */
export function attemptBody(row: AttemptRow): WebhookDelivery {
  const { id, attempt, eventId, eventType, createdAt } = row;
  return { id, attempt, ...outcomeBody(row), eventId, eventType, createdAt };
}

/** The result of an attempt, as in the answer to a test or replay. */
export function outcomeBody({ status, responseCode, durationMs, error }: AttemptRow) {
  return { status, responseCode, durationMs, error };
}
