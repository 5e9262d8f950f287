import type { ErrorCode } from "../base/error.js";
import type { NewOutboxEvent } from "./outbox.js";

/** The right to work on one event for one handler until `leaseUntil`. */
export interface Lease {
  seq: number;
  handler: string;
  /** Unique for each lease; a settlement under an old token writes nothing. */
  token: number;
}

/** Work of an accepted event. */
export interface NewWork {
  handler: string;
  /** Set to lease it in the same commit, for a dispatcher with free capacity; undefined leaves it pending. */
  leaseUntil?: number;
}

/** Leased work with everything that its run needs. */
export interface LeasedWork extends Lease {
  eventId: string;
  receivedAt: number;
  signedAt: number;
  /** When the work became due, before it was leased. */
  dueAt: number;
  /** 1 for the first run of this handler on this event; runs that died with their process count. */
  attempt: number;
  /** Runs that ended in an error before this one. */
  failures: number;
  /** Runs that started before this one and never finished: their process died. */
  crashes: number;
  body: Uint8Array;
}

/** Why an event or its work is parked. `detail`, such as zod issues, holds no part of the body. */
export interface ParkedNote {
  reason: string;
  detail: string;
}

/**
 * How a run ended. Contact events that a done run recorded are stored in the same transaction. `at` in milliseconds
 * since 1970.
 */
export type Settlement = Lease & { at: number; dropSteps: boolean } & (
    | { to: "done"; records?: readonly NewOutboxEvent[] | undefined }
    | { to: "pending"; dueAt: number; error: string }
    | { to: "dead"; reason: DeadReason; error: string }
    | { to: "parked"; reason: string; error: string }
  );

/** Why work is dead. The code of an error: no later attempt could have succeeded. */
export type DeadReason = "attempts_spent" | "do_not_retry" | ErrorCode;
