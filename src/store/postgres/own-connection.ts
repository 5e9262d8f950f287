import { Client, type ClientConfig } from "pg";
import { PigeonholeError } from "../../base/error.js";
import { asPostgresError, isConnectionLost } from "./store-error.js";
import { Sql, type Statements, setDurable } from "./sql.js";

/** In milliseconds; together below the 5 s for which the service waits. */
const CONNECT_TIMEOUT_MS = 2_000;
const LOCK_TIMEOUT_MS = 1_000;
const STATEMENT_TIMEOUT_MS = 3_000;
/** After this the server is not waited for: it may have fallen silent. */
const ANSWER_TIMEOUT_MS = 3_500;

/** Where PostgreSQL says that such a wait was cancelled; the commit then succeeds with a warning. */
const WAIT_FOR_STANDBY = "SyncRepWaitForLSN";

export interface OwnConnectionOptions {
  /** How the application connects. */
  config: ClientConfig;
  /** Shown in pg_stat_activity. */
  name: string;
  statements: Statements;
  /** Called with each new connection before it is used. @default none */
  begin?: (sql: Sql) => Promise<void>;
}

/**
 * A connection of the store's own, which handlers never hold. Pieces of work run one after another. A connection that
 * fails or does not answer in time is thrown away, and the next piece of work makes a new one.
 */
export class OwnConnection {
  readonly #options: OwnConnectionOptions;
  #client: Client | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  /** A commit of the work under way did not wait for the synchronous standby. */
  #hasSkippedStandby = false;

  constructor(options: OwnConnectionOptions) {
    this.#options = options;
  }

  /** Rejects with a code of the store; when the connection failed, whether the work was committed is not known. */
  run<Value>(doing: string, work: (sql: Sql) => Promise<Value>): Promise<Value> {
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

  async #use<Value>(doing: string, work: (sql: Sql) => Promise<Value>): Promise<Value> {
    try {
      const client = this.#client ?? (await this.#connect());
      this.#hasSkippedStandby = false;
      const value = await work(new Sql(client, this.#options.statements));
      if (this.#hasSkippedStandby) throw standbySkipped(doing);
      return value;
    } catch (error) {
      if (isConnectionLost(error)) this.#discard(this.#client);
      throw asPostgresError(error, doing);
    }
  }

  async #connect(): Promise<Client> {
    const { config, name, statements, begin } = this.#options;
    const client = new Client({
      ...config,
      application_name: name,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      keepAlive: true,
    });
    client.on("error", () => this.#discard(client));
    client.on("notice", ({ routine }) => {
      this.#hasSkippedStandby ||= routine === WAIT_FOR_STANDBY;
    });
    this.#client = client;
    await client.connect();
    const sql = new Sql(client, statements);
    await sql.run(`
      SELECT ${setDurable(false)}, set_config('statement_timeout', '${STATEMENT_TIMEOUT_MS}', false),
        set_config('lock_timeout', '${LOCK_TIMEOUT_MS}', false), set_config('idle_in_transaction_session_timeout', '0', false),
        set_config('default_transaction_isolation', 'read committed', false)`);
    await begin?.(sql);
    return client;
  }

  #discard(client: Client | undefined): void {
    if (client !== undefined && client === this.#client) this.#client = undefined;
    // Also closes the socket where a statement is still under way.
    void client?.end().catch(() => undefined);
  }
}

function standbySkipped(doing: string): PigeonholeError {
  return new PigeonholeError(
    "store_not_durable",
    `${doing} failed: the wait for the synchronous standby was cancelled, so what was written may not be on it.`,
  );
}
