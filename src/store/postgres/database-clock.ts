import { type Clock, elapsedBy, systemClock } from "../../base/clock.js";
import { SECOND } from "../../base/duration.js";
import type { Sql } from "./sql.js";

/** What the clock of the server shows, in milliseconds since 1970: an expression. */
export const SERVER_TIME = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

export async function readServerTime(sql: Sql): Promise<number> {
  const row = await sql.row<{ now: number }>(`SELECT ${SERVER_TIME} AS now`);
  return row?.now ?? Date.now();
}

/** Two clocks that differ by less are the same: the way to the server takes some of it. */
const SAME_MS = SECOND;

/**
 * The clock by which leases end and work is due, for all processes: that of the database. Times of this machine are
 * converted by what the two showed when they were last compared.
 */
export class DatabaseClock {
  #machine: Clock = systemClock;
  /** What the database showed, and this machine's steady time then. */
  #compared: { database: number; elapsed: number } | undefined;

  /** Uses this machine's clock from now on. */
  begin(machine: Clock | undefined): void {
    this.#machine = machine ?? systemClock;
    this.#compared = undefined;
  }

  /** Time of this machine that never jumps, in milliseconds. */
  get elapsed(): number {
    return elapsedBy(this.#machine);
  }

  /** Compares the clocks again. */
  async compare(sql: Sql): Promise<void> {
    const before = elapsedBy(this.#machine);
    const database = await readServerTime(sql);
    const after = elapsedBy(this.#machine);
    const expected = this.#compared && this.#compared.database + before - this.#compared.elapsed;
    // A slow answer tells less than the last comparison, if the two fit.
    if (expected !== undefined && expected - 1 <= database && database <= expected + after - before) return;
    this.#compared = { database, elapsed: (before + after) / 2 };
  }

  /**
   * True when the server shows a later time than expected: this machine was suspended, and its steady time with it. The
   * clocks are compared by that time then.
   */
  hasStoodStill(database: number): boolean {
    const elapsed = elapsedBy(this.#machine);
    if (this.#compared === undefined) return false;
    const expected = this.#compared.database + elapsed - this.#compared.elapsed;
    if (database - expected < SAME_MS) return false;
    this.#compared = { database, elapsed };
    return true;
  }

  /** By how many milliseconds the database is ahead of this machine; also right after the machine's clock was set. */
  get aheadMs(): number {
    const aheadMs = this.exactAheadMs;
    return Math.abs(aheadMs) < SAME_MS ? 0 : Math.round(aheadMs);
  }

  /** The same, also where the clocks differ by little. */
  get exactAheadMs(): number {
    if (this.#compared === undefined) return 0;
    const { database, elapsed } = this.#compared;
    return database + elapsedBy(this.#machine) - elapsed - this.#machine.now();
  }
}
