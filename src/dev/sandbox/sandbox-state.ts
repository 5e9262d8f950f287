import type { WebhookEndpoint } from "../../contract/webhook-endpoint.js";
import type { StoredEvent } from "../../sandbox/contact-events/stored-events.js";
import type { AttemptRow } from "../../sandbox/delivery/attempt-row.js";

/** The emulated service beside the dev server. Times are ISO 8601, by its own clock. */
export interface SandboxState {
  /** The present time of its clock, which runs like the machine's and can be advanced. */
  now: string;
  /**
   * How far its clock is ahead of the machine's, in milliseconds: the sum of all advances, less the time that the
   * attempts made meanwhile took.
   */
  aheadMs: number;
  /** Where its API is; the control API is below `/sandbox/`. */
  apiUrl: string;
  /** When the next attempt is due; null when none is planned. */
  nextAttemptAt: string | null;
  /** Deliveries that have neither succeeded nor finally failed. */
  openDeliveries: number;
  /** Newest first, without secrets. */
  endpoints: readonly WebhookEndpoint[];
  /** The faults in force, in the order in which they are compared: of deliveries, then of the API. */
  faults: SandboxFault[];
  /** The latest deliveries, newest first, at most 100. */
  deliveries: SandboxDelivery[];
  /** The latest calls that the API received, newest first, at most 200. */
  calls: SandboxCall[];
  /** The latest contact events that the API stored, newest first, at most 200. */
  contactEvents: StoredEvent[];
}

/** What an injected fault does, and to what. */
export interface SandboxFaultRule {
  /**
   * Of deliveries: `drop`, `lose_answer`, `delay` (delayMs), `duplicate` (copies), `reorder` (maxMs), `status` (status,
   * retryAfter). Of the API: `error` (status, code, retryAfter, executed), `no_answer` (executed), `delay` (delayMs).
   */
  fault: { kind: string; [field: string]: unknown };
  /** Of deliveries: an event type or a group, such as `email.*`. */
  types?: string;
  /** Of deliveries: the id of the endpoint. */
  endpointId?: string;
  /** Of deliveries: only this attempt, 1 for the first. */
  attempt?: number;
  /** Of the API: a call such as `contactEvents.send`, or a resource such as `contactEvents.*`. */
  calls?: string;
  /** From 0 to 1. */
  probability?: number;
  /** How often the fault happens before it ends. */
  times?: number;
}

/** A fault in force. */
export interface SandboxFault {
  id: string;
  of: "deliveries" | "api";
  rule: SandboxFaultRule;
  /** How often it will still happen; null for no limit. */
  left: number | null;
}

/** One event on its way to one endpoint. */
export interface SandboxDelivery {
  /** The same for all attempts. */
  id: string;
  endpointId: string;
  eventId: string;
  eventType: string;
  /** Attempts that were made, in order. */
  attempts: SandboxAttempt[];
  /** Attempts to come, in order, if each one fails in a way that is tried again; empty when the delivery has ended. */
  coming: ComingAttempt[];
}

/** An attempt that was made. */
export interface SandboxAttempt extends Pick<AttemptRow, "attempt" | "outcome" | "durationMs" | "error" | "fault"> {
  at: string;
  /** Status of the answer; null if there was none. */
  status: number | null;
  /** Whether it was answered 2xx by something that is no receiver, such as an HTML page. */
  notReceived: boolean;
}

/** An attempt to come. */
export interface ComingAttempt {
  attempt: number;
  at: string;
  /** True for the next one, whose time is fixed. The others' waits vary by 10 %, and begin when the one before ends. */
  isPlanned: boolean;
}

/** A call that the API received. */
export interface SandboxCall {
  at: string;
  method: string;
  /** Such as `contactEvents.send`; null when no operation has the path. */
  call: string | null;
  /** Null if no answer was given. */
  status: number | null;
  /** Code of an error answer; null otherwise. */
  code: string | null;
  /** Kind of the injected fault; null if there was none. */
  fault: string | null;
}

/** One of the two. Attempts that become due are made and answered before the answer to this request. */
export interface AdvanceBody {
  /** A duration such as `10m` or `1h30m`. */
  by?: string;
  /** To the next attempt: of the event with this id, or of any event if it is empty. */
  toNext?: string;
}

export interface AdvanceReport {
  /** Null if no attempt is planned, so that nothing was done. */
  advancedMs: number | null;
  state: SandboxState;
}

export interface FaultBody {
  of: "deliveries" | "api";
  rule: SandboxFaultRule;
}

/** Fires a sample event, as the service does when something happens in the workspace. */
export interface EmitBody {
  type: string;
  /** Replaces fields of the sample's data, one level deep. */
  data?: Record<string, unknown>;
  /** How many different events. @default 1 */
  count?: number;
}

export interface EmitReport {
  eventIds: string[];
  /** Deliveries that were planned: 0 if no endpoint receives the type, so that the event is lost. */
  deliveries: number;
}
