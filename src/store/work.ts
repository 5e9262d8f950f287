import type { ErrorCode } from "../base/error.js";
import type { NewOutboxEvent } from "./outbox.js";
import type { TraceContext } from "./trace-context.js";

/** The right to work on one event for one handler until `leaseUntil`. */
export interface Lease {
  /** The event, by its place in the order of acceptance. */
  seq: number;
  /** Name of the handler. */
  handler: string;
  /** Differs from that of each other lease of the same work; a settlement under an old token writes nothing. */
  token: number;
}

/** Work of an accepted event. */
export interface NewWork {
  /** Name of the handler that gets the event. */
  handler: string;
  /**
   * Set to lease the work in the same commit, for a dispatcher with free capacity: when the lease ends, in
   * milliseconds since 1970. Undefined leaves the work pending.
   */
  leaseUntil?: number;
  /**
   * Set where only the newest of a key counts, so that others find it while it waits. @default unknown until it begins
   */
  newest?: NewestKey | undefined;
}

/** What tells which of several events is the newest. */
export interface NewestKey {
  /** Of any length. */
  key: string;
  /** The time in the envelope, in milliseconds since 1970. Of equal times, the event that was stored later is newer. */
  createdAt: number;
}

/** `superseded`: another event of the key is newer, and the work has ended. `lost`: the lease had ended. */
export type NewestResult = "newest" | "superseded" | "lost";

/** Leased work with everything that its run needs. */
export interface LeasedWork extends Lease {
  /** The event's id. */
  eventId: string;
  /** When the whole body was received, in milliseconds since 1970. */
  receivedAt: number;
  /** The signed time, in milliseconds since 1970. */
  signedAt: number;
  /** When the work became due, before it was leased, in milliseconds since 1970. */
  dueAt: number;
  /** 1 for the first run of this handler on this event; runs that died with their process count. */
  attempt: number;
  /** Runs that ended in an error before this one; those that ended in a wait are none. */
  failures: number;
  /** When the first run ended in a wait, in milliseconds since 1970; undefined without any. */
  waitBegan?: number | undefined;
  /** Runs that started before this one and never finished: their process died. */
  crashes: number;
  /** The exact received bytes. */
  body: Uint8Array;
  /** The span of the delivery; undefined where none was kept. */
  trace?: TraceContext | undefined;
}

/** Leased work as both databases read it, with the run that begins among those started. */
export interface LeasedRow extends Pick<LeasedWork, "seq" | "eventId" | "receivedAt" | "signedAt" | "dueAt" | "body"> {
  started: number;
  finished: number;
  waits: number;
  waitBegan: number | null;
  trace: TraceContext | null;
}

export function toLeasedWork(row: LeasedRow, lease: Omit<Lease, "seq">): LeasedWork {
  const { started, finished, waits, waitBegan, trace, ...event } = row;
  const runs = { attempt: started, failures: finished - waits, crashes: started - 1 - finished };
  const kept = { ...(trace !== null && { trace }), ...(waitBegan !== null && { waitBegan }) };
  return { ...event, ...kept, ...lease, ...runs };
}

/** Why an event or its work is parked. `detail`, such as zod issues, holds no part of the body. */
export interface ParkedNote {
  /** A code, such as `not_json`, `unknown_type` or `crash_loop`. */
  reason: string;
  /** What the code leaves open, such as zod's issues; empty when there is nothing to add. Holds no part of the body. */
  detail: string;
}

/**
 * How a run ended, at the time `at`. Contact events that a done run recorded are stored in the same transaction. With
 * `dropSteps` the values of its steps are dropped, since there may be some; names and times stay. `dueAt` is when the
 * work runs again; with `wait` the run asked for that, and is no failure. All times in milliseconds since 1970.
 */
export type Settlement = Lease & { at: number; dropSteps: boolean } & (
    | { to: "done"; records?: readonly NewOutboxEvent[] | undefined }
    | ({ to: "pending"; dueAt: number; wait?: RunWait | undefined } & RunError)
    | ({ to: "dead"; reason: DeadReason } & RunError)
    | ({ to: "parked"; reason: string } & RunError)
  );

/** The settlement of work that is done. */
export type DoneSettlement = Settlement & { to: "done" };

/** What else begins no earlier than the work that waits: nothing, or no work of its handler. */
export type WaitHolds = "work" | "handler";

/** A wait that spends no attempt. */
export interface RunWait {
  /** What waits. */
  holds: WaitHolds;
  /** When the first of the waits of this work began, in milliseconds since 1970. */
  began: number;
}

/** What a run threw. */
export interface RunError {
  /** Name and message, for lists. */
  error: string;
  /** The same in full, with frames and causes; undefined where there is no more to say. */
  stack?: string | undefined;
}

/** Why work is dead. The code of an error: no later attempt could have succeeded. */
export type DeadReason = "attempts_spent" | "do_not_retry" | ErrorCode;
