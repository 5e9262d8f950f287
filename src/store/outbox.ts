import type { ContactEventState } from "./state-words.js";
import type { TraceContext } from "./trace-context.js";

/** A contact event to be sent, validated. */
export interface NewOutboxEvent {
  /** Idempotency key; see docs/service.md#idempotency-keys. */
  key: string;
  /** The event as JSON, exactly as it will be sent. */
  body: string;
  /** Milliseconds since 1970; fixed when recorded. */
  occurredAt: number;
  /** The span in which it was recorded, which that of its call links to. @default none */
  trace?: TraceContext | undefined;
}

/** An event that may be stored already: `isSameContactEvent` says whether the one known under its key is the same. */
export interface ComparableOutboxEvent extends NewOutboxEvent {
  /** False when the time is that of the recording: then it is not compared between two events of one key. */
  isTimeGiven: boolean;
}

/** The result of such a record: new, already stored, or refused because its key stands for another event. */
export type RecordResult = "recorded" | "known" | "conflict";

/** A request for contact events to send. */
export interface SendRequest {
  /** The time of the call, in milliseconds since 1970. */
  now: number;
  /** When the lease on the call ends, in milliseconds since 1970; afterwards another process may make the call. */
  leaseUntil: number;
  /** Most events in one batch. */
  limit: number;
}

/**
 * Events frozen into one call, members and order: the service remembers each under key and position, so the call is
 * repeated unchanged until it is settled.
 */
export interface FrozenSend {
  /** Identifies the call in the store. */
  send: number;
  /** Unique for each lease; a settlement under an old token writes nothing. */
  token: number;
  /** Idempotency key of the call. */
  key: string;
  /** `single` goes to POST /events, `batch` to POST /events/batch. */
  kind: "single" | "batch";
  /** 1 for the first try. */
  attempt: number;
  /**
   * The members in their order, 1 to 100: place in the order of recording, JSON as it is sent, time in milliseconds
   * since 1970, and the span in which it was recorded, if one was kept.
   */
  events: { seq: number; body: string; occurredAt: number; trace?: TraceContext | undefined }[];
}

/** The call to make now, and the time of the next. */
export interface SendPage {
  /** The call to make now; undefined when there is none. */
  send: FrozenSend | undefined;
  /** When the call is tried next that others wait for, in milliseconds since 1970; undefined without one. */
  nextDueAt: number | undefined;
}

/** Why a contact event is not sent again automatically. */
export type OutboxDeadReason =
  /** The service refused it; `code` and `param` are the service's. */
  | "refused"
  /** By now it is older than the service accepts; whether an earlier try arrived is not known. */
  | "too_old";

/** How one event of a call ended. `again`: nothing of the call was stored, the event goes into another. */
export type EventResult = { seq: number } & (
  | { to: "done"; remoteId: string; replayed: boolean }
  | { to: "dead"; reason: OutboxDeadReason; code: string; param: string; message: string }
  | { to: "again" }
);

/** How a try ended: each event settled, or the whole call is to be repeated. */
export type SendSettlement = Pick<FrozenSend, "send" | "token"> & { at: number } & (
    | { to: "settled"; results: readonly EventResult[] }
    | { to: "pending"; dueAt: number; error: string }
    /** Given up with the outcome of earlier tries unknown; a retry by hand repeats the same call. */
    | {
        to: "dead";
        reason: OutboxDeadReason;
        code: string | undefined;
        param: string | undefined;
        message: string;
      }
  );

/** A contact event as the outbox lists it. */
export interface OutboxView {
  /** Its place in the order of recording. */
  seq: number;
  /**
   * Idempotency key under which the event is sent; `receiver.contactEvents.retry` and `discard` take it. See
   * docs/service.md#idempotency-keys.
   */
  key: string;
  /**
   * `pending`: waits to be sent; `running`: part of a call that is being made; `retrying`: of one that has failed and
   * is made again; `done`: the service has it; `discarded`: ended without being sent; `dead`: not sent again
   * automatically.
   */
  state: ContactEventState;
  /**
   * The event as JSON, as it is sent; see docs/service.md#contact-event-fields. Once it was erased, only its name is
   * left.
   */
  body: string;
  /** Its name, which is part of the body. */
  name: string;
  /** Email or id of its contact, as in the body; empty once it was erased. */
  contact: string;
  /** When it was recorded, ISO 8601. */
  recordedAt: string;
  /** When it happened, ISO 8601: the `occurredAt` that was given, or the time of recording. */
  occurredAt: string;
  /** When it became done or dead, ISO 8601; null before. */
  settledAt: string | null;
  /** Tries of its calls so far; 0 again when a refused event is retried. */
  attempts: number;
  /** Error of the last try of its call; null before one failed, and once the call is settled. */
  error: string | null;
  /** When its call is tried next, ISO 8601; null unless it waits for that. */
  dueAt: string | null;
  /** The service's id of the stored event; null until it is done. */
  remoteId: string | null;
  /** Why it is dead: `refused` by the service, or `too_old`; null in other states. */
  reason: OutboxDeadReason | null;
  /**
   * The service's error code of a dead event, such as `contact_not_found`; null in other states, or if it gave
   * none. See docs/service.md#event-errors.
   */
  code: string | null;
  /** The field that the service refused, or its dotted path; null or empty where it named none. */
  param: string | null;
  /** The service's message about a dead event; null in other states. */
  message: string | null;
  /**
   * Id of the inbox event whose handler recorded it; null for one that was recorded outside of handlers, and once
   * retention has removed that event.
   */
  inboxEventId: string | null;
  /**
   * Number of its call, if that can only be repeated as it was: it was given up with its outcome unknown. The event may
   * have taken effect, and goes out again with any other of the call that is retried, even if it was discarded.
   * Null otherwise.
   */
  call: number | null;
  /** How many events that call has; null without one. */
  callEvents: number | null;
}

/** A contact event in lists. */
export type ContactEventRow = Omit<OutboxView, "seq" | "body">;

/** Which contact events: what fits each field that is given. */
export interface ContactEventChoice {
  /** Only events of this name. */
  name?: string | undefined;
  /** Only events with this text in what the service answered or in the error of the last try, in any case. */
  error?: string | undefined;
  /** Only events recorded then or later, in milliseconds since 1970. */
  since?: number | undefined;
  /** Only events recorded before, in milliseconds since 1970. */
  until?: number | undefined;
  /** Only events that handlers recorded for the inbox event of this id. */
  inboxEventId?: string | undefined;
}

/** Which contact events a list has. */
export interface OutboxQuery extends ContactEventChoice {
  /** Only events in this state. */
  state?: ContactEventState | undefined;
  /** Most events of a page. @default 50 */
  limit?: number | undefined;
  /** `nextCursor` of the page before. */
  cursor?: string | null | undefined;
}

/** A page of a list of contact events, newest first. */
export interface OutboxPage {
  /** The events, newest first; empty when none match. */
  items: OutboxView[];
  /** Pass it back as `cursor` for the next page; null on the last one. */
  nextCursor: string | null;
}

/** How many contact events of the outbox are in each state. */
export interface OutboxCounts {
  /** Events that wait to be sent. */
  pending: number;
  /** Events of a call that is being made. */
  running: number;
  /** Events of a call that has failed and is made again. */
  retrying: number;
  /** Events that the service refused or that grew too old, and that were neither retried nor discarded. */
  dead: number;
  /** When the oldest event that is not settled was recorded, ISO 8601; null when all are settled. */
  oldestRecordedAt: string | null;
}

/**
 * The durable outbox of contact events. Same guarantees as the inbox. Events of handlers are stored with the settlement
 * of a run: a handler is done with an event once, so nothing else has to keep them from being recorded twice.
 */
export interface Outbox {
  /** Stores an event that no handler's settlement carries. */
  record(event: ComparableOutboxEvent, now: number): Promise<RecordResult>;
  /**
   * Whether this process makes the calls: one of several does, so that they keep within one rate limit. Another one
   * does once that has gone or made none for a minute. Undefined where one process works on the store.
   */
  maySend?(): Promise<boolean>;
  /**
   * Leases the unsettled call, or freezes a new one. Nothing while another is leased or waits for its next try, unless
   * that has failed `BLOCKING_TRIES` times. Events that occur later than `now` are skipped.
   */
  leaseSend(request: SendRequest): Promise<SendPage>;
  /** Ends a try of a call. `lost` when its lease had ended; nothing is written then. */
  settleSend(settlement: SendSettlement): Promise<"settled" | "lost">;
}
