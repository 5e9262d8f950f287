import { Client, type ClientConfig, type ClientBase } from "pg";
import { waitingClock } from "../../base/clock.js";
import { MINUTE, SECOND } from "../../base/duration.js";
import { PigeonholeError } from "../../base/error.js";
import { inTime, LATE } from "../../base/wait.js";
import type { AbandonedSessions } from "./abandoned-sessions.js";
import { asPostgresError, isConnectionLost } from "./store-error.js";
import { Sql, type Statements, setDurable } from "./sql.js";

const CONNECT_TIMEOUT_MS = 2 * SECOND;

/** How long a statement may take, in milliseconds. */
export interface StatementLimits {
  lockMs: number;
  statementMs: number;
  /** After this the server is not waited for: it may have fallen silent. */
  answerMs: number;
  /** After this the server ends a transaction in which nothing is done: its machine may be gone; 0 is never. */
  idleMs: number;
}

/** Below the 3.5 s after which a delivery is answered 503 at the latest. */
export const SHORT: StatementLimits = {
  lockMs: SECOND,
  statementMs: 3 * SECOND,
  answerMs: 3.25 * SECOND,
  idleMs: 10 * SECOND,
};

/** For migrations, of which one process does all while the others wait. */
export const LONG: StatementLimits = { lockMs: MINUTE, statementMs: 2 * MINUTE, answerMs: 2.5 * MINUTE, idleMs: 0 };

/**
 * A machine that falls silent does not close its connections: within a minute the server does, and with them ends what
 * is held by them.
 */
const SILENCE = {
  tcp_keepalives_idle: 20,
  tcp_keepalives_interval: 10,
  tcp_keepalives_count: 4,
  tcp_user_timeout: MINUTE,
};

/** Where PostgreSQL says that such a wait was cancelled; the commit then succeeds with a warning. */
const WAIT_FOR_STANDBY = "SyncRepWaitForLSN";

/**
 * A plan that is kept was made when the tables may have been empty, and must be right when they are large: it finds the
 * rows by their keys.
 */
const PREFER_INDEXES = "SELECT set_config('random_page_cost', '0', false)";

const TRY_SHARED_LOCK = "SELECT pg_try_advisory_lock_shared(:lockClass, :of)";

export interface OwnConnectionOptions {
  /** How the application connects. */
  config: ClientConfig;
  /** Shown in pg_stat_activity. */
  name: string;
  statements: Statements;
  limits: StatementLimits;
  abandoned: AbandonedSessions;
  /** Held in common with others while it is connected, except through a pooler. */
  sharedLock?: { lockClass: number; of: number };
  /** True for the connection whose session must last, also through a pooler. */
  hasSession?: boolean;
}

/** How long what is under way is waited for at the end, in milliseconds. */
const ENDS_WITHIN_MS = 2 * SECOND;

/**
 * A connection of the store's own, which handlers never hold. Pieces of work run one after another. A connection that
 * fails or does not answer in time is thrown away, and the next piece of work makes a new one.
 */
export class OwnConnection {
  readonly #options: OwnConnectionOptions;
  /** Called when a connection that could be used is lost. */
  onLost: (() => void) | undefined;
  #client: Client | undefined;
  #failedAt = -Infinity;
  /** Why the last connection could not be made, and when. */
  #refusal: { error: unknown; at: number } | undefined;
  #hasEnded = false;
  #isPooled = false;
  #turn: Promise<unknown> = Promise.resolve();
  /** A commit of the work under way did not wait for the synchronous standby. */
  #hasSkippedStandby = false;

  constructor(options: OwnConnectionOptions) {
    this.#options = options;
  }

  /** Rejects with a code of the store; when the connection failed, whether the work was committed is not known. */
  run<Value>(doing: string, work: (sql: Sql, client: Client) => Promise<Value>): Promise<Value> {
    const askedAt = performance.now();
    const result = this.#turn.then(() => this.#use(doing, work, askedAt));
    this.#turn = result.catch(() => undefined);
    return result;
  }

  /** Lets no more work begin, and does not wait for a server that has fallen silent. Never rejects. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    await inTime(this.#turn, waitingClock, ENDS_WITHIN_MS);
    const client = this.#client;
    this.#client = undefined;
    if (client !== undefined) await closeClient(client);
  }

  /** When the server last could not be reached, by `performance.now()`. */
  get failedAt(): number {
    return this.#failedAt;
  }

  async #use<Value>(
    doing: string,
    work: (sql: Sql, client: Client) => Promise<Value>,
    askedAt: number,
  ): Promise<Value> {
    try {
      this.#checkOpen();
      const client = this.#client ?? (await this.#connectFor(askedAt));
      this.#hasSkippedStandby = false;
      const sql = new Sql(client, this.#options.statements, { keepsPlans: !this.#isPooled });
      const value = this.#isPooled ? await this.#inTransaction(sql, client, work) : await work(sql, client);
      if (this.#hasSkippedStandby) throw standbySkipped(doing);
      return value;
    } catch (error) {
      if (isConnectionLost(error)) {
        this.#failedAt = performance.now();
        this.#discard(this.#client);
      }
      throw asPostgresError(error, doing);
    }
  }

  /** With settings that end with the transaction: the connection to the server is another client's afterwards. */
  #inTransaction<Value>(sql: Sql, client: Client, work: (sql: Sql, client: Client) => Promise<Value>): Promise<Value> {
    return sql.transaction(async () => {
      await sql.run(settingsFor(this.#options.limits, true));
      return work(sql, client);
    });
  }

  #checkOpen(): void {
    if (this.#hasEnded) throw new PigeonholeError("stopped", "The store is closed.");
  }

  /** What was asked for before a connection was refused is refused with it, and does not wait for another one. */
  async #connectFor(askedAt: number): Promise<Client> {
    if (this.#refusal !== undefined && this.#refusal.at > askedAt) throw this.#refusal.error;
    try {
      return await this.#connect();
    } catch (error) {
      this.#refusal = { error, at: performance.now() };
      throw error;
    }
  }

  async #connect(): Promise<Client> {
    const { config, name, statements, limits, abandoned, sharedLock } = this.#options;
    const client = new Client({
      ...config,
      application_name: name,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: limits.answerMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: SILENCE.tcp_keepalives_idle * SECOND,
    });
    client.on("error", () => this.#discard(client));
    client.on("notice", ({ routine }) => {
      this.#hasSkippedStandby ||= routine === WAIT_FOR_STANDBY;
    });
    try {
      await client.connect();
      const sql = new Sql(client, statements);
      this.#isPooled = this.#options.hasSession !== true && (await isBehindPooler(sql, client));
      if (!this.#isPooled) {
        await sql.run(settingsFor(limits, false));
        await sql.run(PREFER_INDEXES);
        if (sharedLock !== undefined) await sql.run(TRY_SHARED_LOCK, sharedLock);
      }
      await abandoned.end(sql);
      this.#checkOpen();
    } catch (error) {
      this.#discard(client);
      throw error;
    }
    this.#client = client;
    return client;
  }

  #discard(client: Client | undefined): void {
    if (client === undefined) return;
    if (client === this.#client) {
      this.#client = undefined;
      this.#failedAt = performance.now();
      if (!this.#isPooled) this.#options.abandoned.add(client);
      this.onLost?.();
    }
    void closeClient(client);
  }
}

/** A pooler gives its clients numbers of its own. */
async function isBehindPooler(sql: Sql, client: Client): Promise<boolean> {
  const row = await sql.row<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return !("processID" in client) || row?.pid !== client.processID;
}

function settingsFor({ statementMs, lockMs, idleMs }: StatementLimits, isForTransaction: boolean): string {
  const settings = {
    statement_timeout: statementMs,
    lock_timeout: lockMs,
    idle_in_transaction_session_timeout: idleMs,
    default_transaction_isolation: "read committed",
    ...(isForTransaction ? {} : SILENCE),
  };
  const rest = Object.entries(settings).map(
    ([name, value]) => `set_config('${name}', '${value}', ${isForTransaction})`,
  );
  return `SELECT ${[setDurable(isForTransaction), ...rest].join(", ")}`;
}

function standbySkipped(doing: string): PigeonholeError {
  return new PigeonholeError(
    "store_not_durable",
    `${doing} failed: the wait for the synchronous standby was cancelled, so what was written may not be on it.`,
  );
}

/** A server that can be reached has taken its leave by then. */
export const CLOSES_WITHIN_MS = SECOND;

/** Closes a connection; a server that has fallen silent is not waited for. Never rejects. */
async function closeClient(client: Client): Promise<void> {
  const closing = client.end().catch(() => undefined);
  if ((await inTime(closing, waitingClock, CLOSES_WITHIN_MS)) === LATE) cutClient(client);
}

/** Closes the socket of a connection at once, also under a statement. */
export function cutClient(client: ClientBase): void {
  if (client instanceof Client) client.connection.stream.destroy();
}
