import { setTimeout as sleep } from "node:timers/promises";
import { SECOND } from "../base/duration.js";
import { isPigeonholeError } from "../base/error.js";

/** How often an operation is tried on a database that another connection has locked, and the wait between two tries. */
export interface BusyWait {
  tries: number;
  waitMs: number;
}

/** A connection waits for a lock by itself first, up to its busy timeout. */
export const BUSY_WAITS = {
  /** Processes that start together collide while the first switches the file to WAL, which SQLite does not wait for. */
  opening: { tries: 8, waitMs: 100 },
  /** With the busy timeout about 1.5 s of the service's 5 s. */
  batch: { tries: 4, waitMs: 100 },
  /**
   * A receiver locks the database for one commit at a time, so a connection from outside needs a few short waits at
   * most.
   */
  outside: { tries: 8, waitMs: 50 },
  /**
   * The handler has run, and its lease is renewed meanwhile, so this can also wait until a full disk has space again.
   * After so many tries it is logged; a stop waits for no more.
   */
  settlement: { tries: 60, waitMs: SECOND },
} as const satisfies Record<string, BusyWait>;

/** Tries again while the work rejects with `store_busy`; the last try's error is passed on. */
export async function whileBusy<Value>(
  { tries, waitMs }: BusyWait,
  work: () => Value | Promise<Value>,
): Promise<Value> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isPigeonholeError(error, "store_busy") || attempt === tries) throw error;
    }
    await sleep(waitMs);
  }
}
