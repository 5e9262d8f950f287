import type { EraseCounts, EraseOptions } from "./erase.js";
import type { EventDetail, EventPage, EventQuery, ListCounts, StoreCounts } from "./inbox-view.js";
import type { OutboxCounts, OutboxPage, OutboxQuery } from "./outbox.js";

/** The copy that `InboxOperator.backUp` writes. */
export interface BackupCopy {
  /** Path of the copy. */
  copy: string;
  /** Replaces an existing copy. @default false */
  replace?: boolean | undefined;
  /** Cancels the copy and removes what was written. @default none */
  signal?: AbortSignal | undefined;
}

/**
 * Access to a receiver's database from outside, while the receiver runs or is stopped. Never runs a handler and never
 * takes the file from its receiver; an event made pending here is run by the receiver, within seconds or when it next
 * starts.
 */
export interface InboxOperator {
  /** Path of the database. */
  readonly file: string;
  overview(): Promise<{ events: StoreCounts; contactEvents: OutboxCounts }>;
  /** How many rows {@link listEvents} and {@link listContactEvents} have for each state, and without one. */
  countLists(): Promise<ListCounts>;
  listEvents(query?: EventQuery): Promise<EventPage>;
  /** With the exact bytes; undefined when the id is unknown. */
  getEvent(id: string): Promise<EventDetail | undefined>;
  /**
   * Gives dead and crashed work of the event new attempts; what is done stays done. Returns how many handlers will run,
   * 0 when nothing is stuck. Rejects with `not_found`, `body_dropped`, or `needs_receiver` for an event that was not
   * understood.
   */
  retryEvent(id: string): Promise<number>;
  /** Ends all work of the event that is not running; returns how many pieces. Rejects with `not_found`. */
  discardEvent(id: string): Promise<number>;
  /**
   * Erases what mentions an address from events and contact events, a small page at a time, so that a receiver waits
   * for milliseconds only. Ids, keys and marks stay: nothing runs or is sent twice. Rejects with `invalid_argument`
   * unless `email` is one address.
   */
  erase(options: EraseOptions): Promise<EraseCounts>;
  listContactEvents(query?: OutboxQuery): Promise<OutboxPage>;
  /**
   * Makes a dead event pending; false when no dead event has that key. A running receiver sends it when it next checks
   * its outbox: with the next contact event, within 10 s, or when it starts.
   */
  retryContactEvent(key: string): Promise<boolean>;
  /** Discards an event that is dead, or that is not being sent yet; false otherwise. */
  discardContactEvent(key: string): Promise<boolean>;
  /**
   * Writes a whole copy of the database as of one moment, in one file of mode 0600. The copy appears under its name
   * only when it is complete; the receiver continues meanwhile. Resolves with its size in bytes. Rejects with
   * `invalid_argument` for a copy that may not be written there, or with the signal's reason.
   */
  backUp(options: BackupCopy): Promise<{ bytes: number }>;
  close(): Promise<void>;
}
