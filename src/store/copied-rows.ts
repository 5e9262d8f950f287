import type { OutboxState } from "./outbox.js";
import type { TraceContext } from "./trace-context.js";
import type { WorkState } from "./work-state.js";

// What an inbox holds, as it goes from one database into another: without the numbers and the leases of the first.

/** An event with all that belongs to it. */
export interface CopiedEvent {
  id: string;
  type: string;
  test: boolean;
  receivedAt: number;
  signedAt: number;
  bodyLength: number;
  bodyCrc: number;
  /** Undefined once retention has dropped it or it was erased. */
  body: Uint8Array | undefined;
  /** The span of the delivery; null where none was kept, and where there is no body. */
  trace: TraceContext | null;
  work: CopiedWork[];
  steps: { handler: string; name: string; value: string; at: number }[];
  failed: { handler: string; attempt: number; stack: string; at: number }[];
}

/** Work, done or not. What was leased is pending, since its process is gone. */
export interface CopiedWork {
  handler: string;
  state: Exclude<WorkState, "leased">;
  /** Null for what is pending: due at once. */
  dueAt: number | null;
  waitsSince: number | null;
  settledAt: number | null;
  started: number;
  finished: number;
  reason: string | null;
  error: string | null;
  /** What puts it into a group of errors; null when it is in none. */
  errorType: string | null;
  errorGroup: string | null;
  failedAt: number | null;
  discarded: boolean;
}

/** Which events are bodies of one id, by their ids; and which of them a handler has, null when it is gone. */
export interface CopiedOthers {
  others: { id: string; first: string }[];
  holders: { first: string; handler: string; id: string | null }[];
}

/** A contact event, and the call that it is part of. */
export interface CopiedContactEvent {
  key: string;
  body: string;
  occurredAt: number;
  recordedAt: number;
  byHandler: boolean;
  /** Id of the event whose handler recorded it; null for other ones, and when that event is gone. */
  inboxEventId: string | null;
  state: OutboxState;
  position: number | null;
  attempts: number;
  settledAt: number | null;
  remoteId: string | null;
  reason: string | null;
  code: string | null;
  param: string | null;
  message: string | null;
  /** The span in which it was recorded; null where none was kept. */
  trace: TraceContext | null;
  call: CopiedCall | undefined;
}

/** A call to the API that is not settled; it is only repeated as it was. */
export interface CopiedCall {
  key: string;
  kind: "single" | "batch";
  state: "pending" | "dead";
  /** Null for what is pending: due at once. */
  dueAt: number | null;
  waitsSince: number | null;
  started: number;
  error: string | null;
}
