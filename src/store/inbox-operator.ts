import type { BulkJobs } from "./bulk-jobs.js";
import type { DashboardSecret } from "./dashboard-secret.js";
import type { ErrorGroups } from "./error-groups.js";
import type { EraseCounts, EraseOptions } from "./erase.js";
import type { FiguresReader } from "./figures.js";
import type { HandlerTimes, HandlerTimesQuery } from "./handler-times.js";
import type { EventDetail, ListCounts, StoreCounts, WorkChoice } from "./inbox-view.js";
import type { KnownIds } from "./known-ids.js";
import type { PatientEventPage, PatientEventQuery } from "./list-windows.js";
import type { HandlerPauses } from "./paused-handlers.js";
import type { RunCounts } from "./waiting-work.js";
import type { ContactEventChoice, OutboxCounts, OutboxPage, OutboxQuery, OutboxView } from "./outbox.js";

/** The copy that `InboxOperator.backUp` writes. */
export interface BackupCopy {
  /** Path of the copy. */
  copy: string;
  /** Replaces an existing copy. @default false */
  replace?: boolean | undefined;
  /** Cancels the copy and removes what was written. @default none */
  signal?: AbortSignal | undefined;
}

/** How much work and how many contact events are in each state. */
export interface StoreOverview {
  /** Pieces of work of events. */
  events: StoreCounts;
  /** Contact events. */
  contactEvents: OutboxCounts;
}

/** Which stuck work: of all that is dead or parked, what fits each field that is given. */
export interface StuckWork extends WorkChoice {
  /** @default both */
  state?: "dead" | "parked" | undefined;
}

/** A piece of stuck work. */
export interface StuckPiece {
  seq: number;
  handler: string;
}

/** What a retry from outside did. */
export interface OperatorRetry {
  /** Handlers that will run again. */
  handlers: number;
  /** Events that were not understood: the receiver reads them again, if it runs, or when it next starts. */
  readAgain: number;
}

/** What an erasure from outside did. */
export interface OperatorErasure extends EraseCounts {
  /** The file beside the database that keeps old versions of what was erased until the receiver is stopped. */
  walLeft: string | undefined;
}

/**
 * Access to a receiver's database from outside, while the receiver runs or is stopped. Never runs a handler and never
 * takes a file from its receiver; an event made pending here is run by the receiver, within seconds or when it next
 * starts.
 */
export interface InboxOperator extends KnownIds, HandlerPauses, BulkJobs, ErrorGroups, DashboardSecret, FiguresReader {
  /** Path of the database file, or the server and database of PostgreSQL without the password. */
  readonly database: string;
  /** How much work and how many contact events are in each state. */
  overview(): Promise<StoreOverview>;
  /** How many rows {@link listEvents} and {@link listContactEvents} have for each state, and without one. */
  countLists(): Promise<ListCounts>;
  /** How long handlers took, by handler in the order of their names; kept for 8 days. */
  handlerTimes(query?: HandlerTimesQuery): Promise<HandlerTimes[]>;
  /** Stored events, newest first, a page at a time. */
  listEvents(query?: PatientEventQuery): Promise<PatientEventPage>;
  /** With the exact bytes; undefined when the id is unknown. */
  getEvent(id: string): Promise<EventDetail | undefined>;
  /**
   * The exact bytes of these events, by id, as far as they are stored and have no more than `maxBytes`; for all of them
   * together at once. At most 500 ids in a call.
   */
  readBodies(query: { ids: readonly string[]; maxBytes: number }): Promise<Map<string, Uint8Array>>;
  /**
   * Gives dead and parked work of the event new attempts; what is done stays done. An event that was not understood
   * stays parked until the receiver has read it again; one that no handler got is parked until then. Rejects with
   * `not_found` or `body_dropped`.
   */
  retryEvent(id: string): Promise<OperatorRetry>;
  /**
   * Gives the chosen work new attempts, a small page at a time, and no other work of its events, unless the event was
   * not understood: it is read again as a whole. `skipped`: pieces that cannot be changed, as in {@link BulkJob}.
   */
  retryWork(choice: StuckWork): Promise<OperatorRetry & { events: number; skipped: number }>;
  /** Counts the chosen work, and the events that it belongs to. */
  countWork(choice: StuckWork): Promise<{ events: number; work: number }>;
  /**
   * Makes work of the event due that waits for its next run; a receiver runs it within seconds. It gets no attempt, and
   * keeps those that it had. Returns how many pieces. Rejects with `not_found`.
   */
  runEvent(id: string): Promise<number>;
  /** The same for the chosen work, a small page at a time. Dead and parked work is left. */
  runWork(choice: WorkChoice): Promise<RunCounts>;
  /** Counts the chosen work that waits for its next run, and the events that it belongs to. */
  countWaiting(choice: WorkChoice): Promise<RunCounts>;
  /** Ends the chosen work without running it, a small page at a time; returns what was ended. */
  discardWork(choice: StuckWork): Promise<{ events: number; work: number }>;
  /** True while a receiver runs handlers on the database. */
  hasReceiver(): Promise<boolean>;
  /** Ends all work of the event that is not running; returns how many pieces. Rejects with `not_found`. */
  discardEvent(id: string): Promise<number>;
  /**
   * Erases what mentions an address from events and contact events, a small page at a time, so that a receiver waits
   * for milliseconds only. Ids, keys and work stay: nothing runs or is sent twice. Jobs lose the texts by which people
   * chose their work. Rejects with `invalid_argument` unless `email` is one address.
   */
  erase(options: EraseOptions): Promise<OperatorErasure>;
  /** Contact events, newest first, a page at a time. */
  listContactEvents(query?: OutboxQuery): Promise<OutboxPage>;
  /** The newest with this key; undefined when there is none. */
  getContactEvent(key: string): Promise<OutboxView | undefined>;
  /**
   * Makes a dead event pending, with all others of a call that can only be repeated as it was, also discarded ones. Of
   * an event whose call waits for its next try, makes that call due now, and the calls before it. Returns how many go
   * out again; 0 when no such event has that key, or its call is due or under way. A running receiver sends them within
   * about a second, a stopped one when it starts.
   */
  retryContactEvent(key: string): Promise<number>;
  /**
   * Discards an event that is dead, or that is not being sent yet; false otherwise. It keeps its place in a call that
   * can only be repeated as it was.
   */
  discardContactEvent(key: string): Promise<boolean>;
  /** Counts the chosen events that are dead. */
  countDeadContactEvents(choice: ContactEventChoice): Promise<number>;
  /**
   * Makes the chosen dead events pending, a small page at a time, with the others of a call that can only be repeated
   * as a whole. Returns how many go out again. The receiver sends them as with {@link retryContactEvent}.
   */
  retryDeadContactEvents(choice: ContactEventChoice): Promise<number>;
  /** Discards the chosen dead events, a small page at a time; returns how many. */
  discardDeadContactEvents(choice: ContactEventChoice): Promise<number>;
  /**
   * Writes a whole copy of the database as of one moment, in one file of mode 0600. The copy appears under its name
   * only when it is complete; the receiver continues meanwhile. Resolves with its size in bytes. Rejects with
   * `invalid_argument` for a copy that may not be written there and on PostgreSQL, which has programs of its own for
   * that, or with the signal's reason.
   */
  backUp(options: BackupCopy): Promise<{ bytes: number }>;
  /** Ends the connection; later calls reject. */
  close(): Promise<void>;
}
