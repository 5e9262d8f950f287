import type { BulkJobs, JobAction, JobChoice } from "./bulk-jobs.js";
import type { ErrorGroups } from "./error-groups.js";
import type { EraseCounts, EraseOptions } from "./erase.js";
import type { FiguresReader } from "./figures.js";
import type { HistoryRequest, PlannedHistory } from "./history.js";
import type { HandlerTimes, HandlerTimesQuery } from "./handler-times.js";
import type { EventDetail, StoreCounts } from "./inbox-view.js";
import type { PatientEventPage, PatientEventQuery } from "./list-windows.js";
import type { HandlerPauses } from "./paused-handlers.js";
import type { RepairRound, RepairRounds } from "./repair-rounds.js";
import type { ContactEventChoice, OutboxCounts, OutboxPage, OutboxQuery, OutboxView } from "./outbox.js";

/** What is done with contact events: they are sent again, or end. */
export type ContactEventAction = "retry" | "discard";

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
  /** When it was counted, by the database's clock, ISO 8601. */
  at: string;
  /** Pieces of work of events. */
  events: StoreCounts;
  /** Contact events. */
  contactEvents: OutboxCounts;
  /** The last round of the option `repair`, by endpoint, the newest first; empty where no receiver has the option. */
  repairs: RepairRound[];
}

/** How much work is or was changed, and of how many events. */
export interface RunCounts {
  /** Events that have some of it. */
  events: number;
  /** Pieces of work. */
  work: number;
}

/** What a change of work did. */
export interface ChangedWork {
  /** Pieces of work that run again, run now or were ended. */
  work: number;
  /** Of a retry: events that were not understood. The receiver reads them again, if it runs, or when it next starts. */
  readAgain: number;
}

/** What a change of much work did. */
export interface ChangedMuchWork extends ChangedWork {
  /** The events that it belongs to. */
  events: number;
}

/** What an erasure from outside did. */
export interface OperatorErasure extends EraseCounts {
  /** The file beside the database with old versions of what was erased until the receiver stops; null without one. */
  walLeft: string | null;
}

/**
 * Access to a receiver's database from outside, while the receiver runs or is stopped. Never runs a handler and never
 * takes a file from its receiver; an event made pending here is run by the receiver, within seconds or when it next
 * starts.
 */
export interface InboxOperator extends HandlerPauses, BulkJobs, ErrorGroups, FiguresReader, RepairRounds {
  /** Path of the database file, or the server and database of PostgreSQL without the password. */
  readonly database: string;
  /**
   * 32 random bytes, made when they are first asked for; the same for all processes of the store. With them, what the
   * dashboard hides can be found by guesses: they are never shown or logged.
   */
  dashboardSecret(): Promise<Uint8Array>;
  /** How much work and how many contact events are in each state, and the last rounds of the repair. */
  overview(): Promise<StoreOverview>;
  /** How long handlers took, by handler in the order of their names; kept for 8 days. */
  handlerTimes(query?: HandlerTimesQuery): Promise<HandlerTimes[]>;
  /** Stored events, newest first, a page at a time. */
  listEvents(query?: PatientEventQuery): Promise<PatientEventPage>;
  /**
   * With the exact bytes; undefined when the id is unknown. An id as the service gave it finds the newest event that
   * has it in any named source.
   */
  getEvent(id: string): Promise<EventDetail | undefined>;
  /**
   * Since when the inbox has the id of every event that it accepted, in milliseconds since 1970: since its first
   * receiver, or as far back as retention has left all ids. Undefined before a receiver has used it.
   */
  idsKnownSince(): Promise<number | undefined>;
  /**
   * The exact bytes of these events, by id, as far as they are stored and have no more than `maxBytes`; for all of them
   * together at once. At most 500 ids in a call.
   */
  readBodies(query: { ids: readonly string[]; maxBytes: number }): Promise<Map<string, Uint8Array>>;
  /**
   * Changes the work of one event. Rejects with `not_found`.
   *
   * - `retry`: dead and parked work gets new attempts; what is done stays done. An event that was not understood stays
   *   parked until the receiver has read it again; one that no handler got is parked until then. Rejects with
   *   `body_dropped` too.
   * - `run`: work that waits for its next run is due; a receiver runs it within seconds. It gets no attempt, and keeps
   *   those that it had.
   * - `discard`: all work ends that is not running.
   */
  changeEvent(action: JobAction, id: string): Promise<ChangedWork>;
  /**
   * The same for chosen work, a small page at a time, and no other work of its events, unless the event was not
   * understood: it is read again as a whole. `retry` and `discard` change dead and parked work, `run` what waits for
   * its next run. Rejects with `invalid_argument` for a choice that cannot be.
   */
  changeWork(action: JobAction, choice: JobChoice): Promise<ChangedMuchWork>;
  /** Counts what {@link changeWork} would change, and the events that it belongs to. */
  countWork(action: JobAction, choice: JobChoice): Promise<RunCounts>;
  /**
   * Gives stored events to a handler that has no work of them, as a job that is done where the handler runs, while
   * nothing else of it is due. Rejects with `not_found` for a handler that no receiver has had, and with
   * `invalid_argument` for types that it does not get.
   */
  planHistory(request: HistoryRequest): Promise<PlannedHistory>;
  /** True while a receiver runs handlers on the database. */
  hasReceiver(): Promise<boolean>;
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
   * Changes one contact event. Returns how many were changed; 0 when none of that key can be.
   *
   * - `retry`: a dead event is pending, with all others of a call that can only be repeated as it was, also discarded
   *   ones. Of an event whose call waits for its next try, that call is due now, and the calls before it; not one that
   *   is due or under way. A running receiver sends them within about a second, a stopped one when it starts.
   * - `discard`: ends an event that is dead, or that is not being sent yet. It keeps its place in a call that can only
   *   be repeated as it was.
   */
  changeContactEvent(action: ContactEventAction, key: string): Promise<number>;
  /** The same for the chosen events that are dead, a small page at a time. With `dryRun` it counts these. */
  changeContactEvents(
    action: ContactEventAction,
    choice: ContactEventChoice,
    options?: { dryRun?: boolean | undefined },
  ): Promise<number>;
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
