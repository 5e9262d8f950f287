import { Client, type ClientConfig } from "pg";
import { MINUTE, SECOND } from "../../base/duration.js";
import { PigeonholeError } from "../../base/error.js";
import { asPostgresError, isConnectionLost } from "./store-error.js";
import { Sql, type Statements, setDurable } from "./sql.js";

const CONNECT_TIMEOUT_MS = 2 * SECOND;

/** How long a statement may take, in milliseconds. */
export interface StatementLimits {
  lockMs: number;
  statementMs: number;
  /** After this the server is not waited for: it may have fallen silent. */
  answerMs: number;
}

/** Below the 5 s for which the service waits. */
export const SHORT: StatementLimits = { lockMs: SECOND, statementMs: 3 * SECOND, answerMs: 3.5 * SECOND };

/** For migrations, of which one process does all while the others wait. */
export const LONG: StatementLimits = { lockMs: MINUTE, statementMs: 2 * MINUTE, answerMs: 2.5 * MINUTE };

/** Where PostgreSQL says that such a wait was cancelled; the commit then succeeds with a warning. */
const WAIT_FOR_STANDBY = "SyncRepWaitForLSN";

export interface OwnConnectionOptions {
  /** How the application connects. */
  config: ClientConfig;
  /** Shown in pg_stat_activity. */
  name: string;
  statements: Statements;
  limits: StatementLimits;
}

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
  #turn: Promise<unknown> = Promise.resolve();
  /** A commit of the work under way did not wait for the synchronous standby. */
  #hasSkippedStandby = false;

  constructor(options: OwnConnectionOptions) {
    this.#options = options;
  }

  /** Rejects with a code of the store; when the connection failed, whether the work was committed is not known. */
  run<Value>(doing: string, work: (sql: Sql, client: Client) => Promise<Value>): Promise<Value> {
    const result = this.#turn.then(() => this.#use(doing, work));
    this.#turn = result.catch(() => undefined);
    return result;
  }

  async end(): Promise<void> {
    await this.#turn;
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => undefined);
  }

  /** When the server last could not be reached, by `performance.now()`. */
  get failedAt(): number {
    return this.#failedAt;
  }

  async #use<Value>(doing: string, work: (sql: Sql, client: Client) => Promise<Value>): Promise<Value> {
    try {
      const client = this.#client ?? (await this.#connect());
      this.#hasSkippedStandby = false;
      const value = await work(new Sql(client, this.#options.statements), client);
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

  async #connect(): Promise<Client> {
    const { config, name, statements, limits } = this.#options;
    const client = new Client({
      ...config,
      application_name: name,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: limits.answerMs,
      keepAlive: true,
    });
    client.on("error", () => this.#discard(client));
    client.on("notice", ({ routine }) => {
      this.#hasSkippedStandby ||= routine === WAIT_FOR_STANDBY;
    });
    try {
      await client.connect();
      await new Sql(client, statements).run(settingsFor(limits));
    } catch (error) {
      this.#discard(client);
      throw error;
    }
    this.#client = client;
    return client;
  }

  #discard(client: Client | undefined): void {
    if (client !== undefined && client === this.#client) {
      this.#client = undefined;
      this.#failedAt = performance.now();
      this.onLost?.();
    }
    // Also closes the socket where a statement is still under way.
    void client?.end().catch(() => undefined);
  }
}

function settingsFor({ statementMs, lockMs }: StatementLimits): string {
  return `
    SELECT ${setDurable(false)}, set_config('statement_timeout', '${statementMs}', false),
      set_config('lock_timeout', '${lockMs}', false), set_config('idle_in_transaction_session_timeout', '0', false),
      set_config('default_transaction_isolation', 'read committed', false)`;
}

function standbySkipped(doing: string): PigeonholeError {
  return new PigeonholeError(
    "store_not_durable",
    `${doing} failed: the wait for the synchronous standby was cancelled, so what was written may not be on it.`,
  );
}
