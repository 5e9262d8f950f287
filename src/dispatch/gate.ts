import type { GateName } from "../store/figures.js";
import type { WindowLease } from "./lease-window.js";
import type { RunResult } from "./runner.js";

/** A piece of work as a gate sees it. With the handler alone, it is any work of that handler. */
export interface GatedWork {
  readonly handler: string;
  readonly eventId?: string;
  readonly key?: string | undefined;
  /** Runs that died with their process. */
  readonly crashes?: number;
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
  /** What has entered has ended. `result` is undefined if it did not run. */
  leave?(lease: WindowLease, result: RunResult | undefined): void;
  /** So much work of the handler waits for this gate alone: when it opens by itself, in the clock's elapsed time. */
  seek?(waiting: number): number;
  /** The work waits for this gate behind so much other work: a promise if it must not wait here. */
  overflow?(lease: WindowLease, others: number): Promise<unknown> | undefined;
}
