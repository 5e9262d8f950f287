import type { Timer } from "../../base/clock.js";
import { PigeonholeError } from "../../base/error.js";
import type { Endpoint } from "../endpoints/endpoint.js";
import type { AttemptRow, DeliveryKind } from "./attempt-row.js";

/** An event as the service keeps it. */
export interface SandboxEvent {
  /** `evt_` and 24 hex digits, or the id that was given. */
  id: string;
  /** Event type, such as `email.bounced`; see docs/service.md#event-types. */
  type: string;
  /** When it was fired by the sandbox's clock, ISO 8601 in UTC. */
  createdAt: string;
  /** The data of the envelope. Its fields are assumed: see docs/service.md#event-data. */
  data: Readonly<Record<string, unknown>>;
  /** The workspace's addresses that it names, which allowlists compare; see docs/service.md#allowlists. Not sent. */
  addresses: readonly string[];
}

/** One event on its way to one endpoint. */
export interface ScheduledDelivery {
  readonly id: string;
  readonly endpoint: Endpoint;
  readonly event: SandboxEvent;
  /** The bytes, the same for every attempt. */
  readonly body: Buffer;
  readonly kind: DeliveryKind;
  /** Number of attempts made. */
  attempts: number;
  /** The wait for the next attempt; undefined while one runs and once it has ended. */
  wait: { timer: Timer; dueMs: number } | undefined;
  /** Nothing more is tried. */
  ended: boolean;
  /** Called with the first attempt, or with undefined if none could be logged. */
  onAttempt: ((row: AttemptRow | undefined) => void) | undefined;
}

/** An attempt that is due later: a retry, or an attempt that a fault delays. */
export interface PlannedAttempt {
  /** The same for all attempts of a delivery. */
  deliveryId: string;
  /** Id of the endpoint. */
  endpointId: string;
  /** Id of the event. */
  eventId: string;
  /** Type of the event, such as `email.bounced`. */
  eventType: string;
  /** 1 for the first attempt of the delivery. */
  attempt: number;
  /** When it is due, in milliseconds since 1970 by the sandbox's clock. */
  dueAtMs: number;
}

/** The signed bytes of an event. See docs/service.md#envelope. Throws `invalid_argument` for data that is not JSON. */
export function eventBody({ id, type, createdAt, data }: SandboxEvent): Buffer {
  try {
    return Buffer.from(JSON.stringify({ id, type, createdAt, data }));
  } catch (error) {
    throw new PigeonholeError("invalid_argument", `The data of ${type} cannot be written as JSON.`, { cause: error });
  }
}
