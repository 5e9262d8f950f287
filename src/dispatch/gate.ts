import type { AnyEvent } from "../protocol/event.js";
import type { GateName } from "../store/figures.js";
import type { Lease, LeasedWork, NewestKey, Settlement } from "../store/work.js";

/** A lease in memory, and what must be known of its work once event and body are released. */
export interface WindowLease extends Lease {
  eventId: string;
  attempt: number;
  /** Since when the work is due. */
  dueAt: number;
  bytes: number;
  /** Runs that died with their process. */
  crashes: number;
  key: string | undefined;
  /** Of work that counts only as the newest of its key. */
  newest: NewestKey | undefined;
  /** When it was added and, once it has begun, when that was, in the clock's elapsed time. */
  since: number;
  /** The lease has ended, or has a new holder. */
  isLost: boolean;
}

/** Leased work whose event is read. */
export interface ReadyWork {
  lease: WindowLease;
  work: LeasedWork;
  event: AnyEvent;
}

/** A piece of work as a gate sees it. With the handler alone, it is any work of that handler. */
export type GatedWork = Pick<WindowLease, "handler"> & Partial<WindowLease>;

/** How a run has ended for a piece of its work. Holds neither event nor body, which are released with the run. */
export interface WorkEnd {
  lease: WindowLease;
  /**
   * To be written to the store, unless the run was settled inside `ctx.commit`, its lease is lost, or the store failed
   * under it. Undefined for work that did not run after all.
   */
  settlement: Settlement | "committed" | "lost" | "interrupted" | undefined;
  /** It recorded contact events, which can be sent once it is settled. */
  hasRecorded: boolean;
}

/** One reason why leased work may have to wait. */
export interface Gate {
  readonly name: GateName;
  /**
   * What waits while it is shut: this piece of work, all work of its handler, or all work of its handler in the store,
   * to which it goes back.
   */
  readonly keeps: "work" | "handler" | "in_store";
  /** False while the work must wait. Changes nothing. */
  allows(work: GatedWork): boolean;
  /**
   * The work begins. A promise if the store decides too: with false, the work does not run here. `asked` is that of an
   * earlier gate.
   */
  enter?(lease: WindowLease, asked: Promise<boolean> | undefined): Promise<boolean> | undefined;
  /** What has entered has ended. `ends`: of the work of its run, none if it did not run. */
  leave?(lease: WindowLease, ends: readonly WorkEnd[]): void;
  /** Work of the handler waits for this gate alone: when it opens by itself, in the clock's elapsed time. */
  seek?(): number;
  /** The work waits for this gate behind so much other work: a promise if it must not wait here. */
  overflow?(lease: WindowLease, others: number): Promise<unknown> | undefined;
}
