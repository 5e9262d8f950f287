import { randomInt } from "node:crypto";
import { type Timer, systemClock, waitingClock } from "../../base/clock.js";
import { MINUTE, SECOND } from "../../base/duration.js";
import { isPigeonholeError } from "../../base/error.js";
import { inTime } from "../../base/wait.js";
import { checkLastingSession } from "./check-lasting-session.js";
import type { DatabaseClock } from "./database-clock.js";
import { HELD_LOCKS } from "./advisory-lock.js";
import { prolongLeases } from "./operations/lease.js";
import { prolongSends } from "./operations/outbox-send.js";
import { type LeaseHolder, type ProcessLock, releaseUnknown } from "./operations/recover.js";
import type { OwnConnection } from "./own-connection.js";
import type { Sql } from "./sql.js";

/**
 * Without this session, others would take leases of a process that runs, or never those of one that died.
 * Tests: "a lost session is taken again at once, and nobody takes its work meanwhile", "a store's leases end with it,
 * and not before".
 *
 * Others take a process for gone when its lock is missing for some seconds.
 */
const HOLD_AGAIN_MS = SECOND / 4;
/** What may have ended while the database could not be reached is left to its holders for so long. */
const AFTER_LOSS_MS = 30 * SECOND;
/** The others are told for so long that this process is gone. */
const LEAVES_WITHIN_MS = SECOND;
/** A statement whose answer is lost may give its leases later than the first release of them. */
const UNKNOWN_FOR_MS = 90 * SECOND;

export interface ProcessSessionDeps {
  /** Holds the lock; it is lost with its session. */
  session: OwnConnection;
  working: OwnConnection;
  clock: DatabaseClock;
  lockClass: number;
}

export type Leasing<Value> = (sql: Sql, holder: ProcessLock & LeaseHolder) => Promise<Value>;

/** Leases that may have been given to this process, and the time of their first release, by `performance.now()`. */
interface UnknownLeases {
  token: number;
  releasedAt: number | undefined;
}

/** This process among those that work on the data: it has a number, whose lock it holds while the store is open. */
export class ProcessSession {
  readonly #deps: ProcessSessionDeps;
  #unknown: UnknownLeases[] = [];
  #process: number | undefined;
  #begun: Promise<void> | undefined;
  #heldAt = 0;
  #timer: Timer | undefined;
  #hasEnded = false;

  constructor(deps: ProcessSessionDeps) {
    this.#deps = deps;
    deps.session.onLost = () => this.#holdSoon();
  }

  /** As others see this process. Its number is 0 before `begin`. */
  get lock(): ProcessLock {
    const isBack = performance.now() - this.#failedAt > AFTER_LOSS_MS;
    return { process: this.#process ?? 0, lockClass: this.#deps.lockClass, mayExpire: isBack };
  }

  /** True once this process may have leases. */
  get hasBegun(): boolean {
    return this.#process !== undefined;
  }

  /** Takes a number, and its lock, unless it has one. */
  begin(): Promise<void> {
    this.#begun ??= this.#begin().catch((error: unknown) => {
      this.#begun = undefined;
      throw error;
    });
    return this.#begun;
  }

  /**
   * Takes the lock again if its connection was lost. Until the server has noticed that, the lost connection holds it.
   * Rejects with `store_unreachable` or the like where that cannot be.
   */
  async hold(): Promise<void> {
    if (this.#hasEnded) return;
    await this.begin();
    const { session, working, clock } = this.#deps;
    const { process, lockClass } = this.lock;
    await session.run("holding the store", async (sql) => {
      await clock.compare(sql);
      if (!(await isHeld(sql, { process, lockClass }))) await takeLock(sql, { process, lockClass });
    });
    // Leases that ended meanwhile are those of a process that lives.
    if (this.#failedAt > this.#heldAt) {
      await working.run("renewing leases", (sql) => prolongLeases(sql, { process, forMs: MINUTE }));
    }
    await working.run("renewing leases", (sql) => prolongSends(sql, process));
    await this.#releaseUnknown(process);
    this.#heldAt = performance.now();
  }

  /**
   * Gives this process leases, by a statement on the connection. Where it does not learn of them, they are released:
   * they would end without a run, and count as a crash.
   */
  async lease<Value>(connection: OwnConnection, doing: string, use: Leasing<Value>): Promise<Value> {
    // No lease of the same work had it before.
    const token = randomInt(1, 2 ** 48 - 1);
    let isSent = false;
    try {
      return await connection.run(doing, (sql) => {
        isSent = true;
        return use(sql, { ...this.lock, token });
      });
    } catch (error) {
      // Before it has a number, this process gets no leases.
      if (isSent && this.hasBegun && mayBeWritten(error)) {
        this.#unknown.push({ token, releasedAt: undefined });
        this.#holdSoon();
      }
      throw error;
    }
  }

  /** Tells the others that it is gone, and ends with the connection, and so does the lock. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    this.#timer?.cancel();
    const process = this.#process;
    const { session } = this.#deps;
    if (process !== undefined) {
      const leave = (sql: Sql) =>
        sql.run("UPDATE pigeonhole.inbox_process SET ended = true WHERE id = :process", { process });
      // Where that fails, they see that the lock is gone.
      await inTime(session.run("closing the store", leave), waitingClock, LEAVES_WITHIN_MS).catch(() => undefined);
    }
    await session.end();
  }

  async #releaseUnknown(process: number): Promise<void> {
    const now = performance.now();
    this.#unknown = this.#unknown.filter(({ releasedAt = now }) => now - releasedAt < UNKNOWN_FOR_MS);
    const unknown = this.#unknown;
    if (unknown.length === 0) return;
    const tokens = unknown.map(({ token }) => token);
    await this.#deps.working.run("releasing leases", (sql) => releaseUnknown(sql, process, tokens));
    for (const leases of unknown) leases.releasedAt ??= now;
  }

  async #begin(): Promise<void> {
    const { session, working, lockClass } = this.#deps;
    await checkLastingSession(session, working);
    await session.run("opening the store", async (sql) => {
      const row = await sql.row<{ process: number }>("SELECT nextval('pigeonhole.inbox_process_number') AS process");
      await takeLock(sql, { process: row?.process ?? 0, lockClass });
      this.#process = row?.process;
    });
    this.#heldAt = performance.now();
  }

  get #failedAt(): number {
    const { session, working } = this.#deps;
    return Math.max(session.failedAt, working.failedAt);
  }

  /** Until the server takes connections again. */
  #holdSoon(): void {
    // One that is set already is not set later: there may be failures all the time.
    if (this.#hasEnded || this.#process === undefined || this.#timer !== undefined) return;
    this.#timer = systemClock.setTimer(() => {
      this.#timer = undefined;
      this.hold().catch(() => this.#holdSoon());
    }, HOLD_AGAIN_MS);
  }
}

/** After such a failure, what was asked for may be in the database. */
function mayBeWritten(error: unknown): boolean {
  return isPigeonholeError(error, "store_unreachable") || isPigeonholeError(error, "store_not_durable");
}

/** The lock comes first: a row without one is that of a process that is gone. */
async function takeLock(sql: Sql, of: { process: number; lockClass: number }): Promise<void> {
  await sql.run("SELECT pg_try_advisory_lock(:lockClass, :process)", of);
  await sql.run(
    `INSERT INTO pigeonhole.inbox_process (id, server_start, ended) VALUES (:process, pg_postmaster_start_time(), false)
     ON CONFLICT (id) DO UPDATE SET server_start = excluded.server_start, missing_since = NULL, missing_on = NULL`,
    of,
  );
}

/** Also false when others have noted that it is missing. */
async function isHeld(sql: Sql, of: { process: number; lockClass: number }): Promise<boolean> {
  const found = await sql.row(
    `SELECT 1 AS found FROM ${HELD_LOCKS}
     WHERE pid = pg_backend_pid() AND number = :process
       AND EXISTS (SELECT 1 FROM pigeonhole.inbox_process WHERE id = :process AND missing_since IS NULL)`,
    of,
  );
  return found !== undefined;
}
