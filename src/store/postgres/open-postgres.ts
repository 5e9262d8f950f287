import { Client, type ClientConfig, type Pool } from "pg";
import { SECOND } from "../../base/duration.js";
import { AbandonedSessions } from "./abandoned-sessions.js";
import { LOCKED, lockClassOf } from "./advisory-lock.js";
import type { DatabaseClock } from "./database-clock.js";
import { checkServer } from "./check-server.js";
import { commitOnPool } from "./commit-on-pool.js";
import { migrateSchema, requireSchema } from "./migrate-schema.js";
import { type Leasing, ProcessSession } from "./process-session.js";
import { type Batches, createBatches } from "./create-batches.js";
import type { ProcessLock } from "./operations/recover.js";
import type { DoneSettlement } from "../work.js";
import { setUpTables } from "./own-tables.js";
import { LONG, OwnConnection, type OwnConnectionOptions, SHORT } from "./own-connection.js";
import { SharedPool } from "./shared-pool.js";
import type { PostgresTransaction } from "./call-with-client.js";
import { Sql, Statements } from "./sql.js";

/** Some of what runs in the pool reads many rows. */
const POOL_ANSWER_MS = 30 * SECOND;

/** All connections of one opening of a store. */
export interface OpenPostgres extends Batches {
  readonly lock: ProcessLock;
  /** Makes this process one of those that have leases, unless it is. */
  begin(): Promise<void>;
  /** Holds the lock of this process again, if its connection was lost. */
  hold(): Promise<void>;
  commit(
    settlements: readonly DoneSettlement[],
    fn: (tx: PostgresTransaction) => unknown,
    signal: AbortSignal | undefined,
  ): Promise<void>;
  /** On the store's own connection for work, which handlers never hold. */
  work<Value>(doing: string, use: (sql: Sql) => Promise<Value>): Promise<Value>;
  /** As `work`, for what gives this process leases. */
  lease<Value>(doing: string, use: Leasing<Value>): Promise<Value>;
  /** On a connection of the pool: what may wait, so long for the connection and so long for each answer. */
  inPool<Value>(doing: string, use: (sql: Sql) => Promise<Value>, withinMs?: number): Promise<Value>;
  close(): Promise<void>;
}

export interface PostgresPlace {
  pool: Pool | string;
  schema: string;
  /** Another way to the server, for the connection whose session must last. */
  sessionConnectionString?: string | undefined;
  /** Makes the tables and brings them up to date. */
  migrate: boolean;
  setup?: ((tx: PostgresTransaction) => unknown) | undefined;
}

export interface OpenRequest {
  place: PostgresPlace;
  clock: DatabaseClock;
  /** False for a process that has no leases, unless it asks for them later. */
  runsHandlers: boolean;
}

export async function openPostgres(request: OpenRequest): Promise<OpenPostgres> {
  const { place, clock, runsHandlers } = request;
  const { schema, sessionConnectionString } = place;
  const abandoned = new AbandonedSessions();
  const pool = new SharedPool(place.pool, abandoned);
  const statements = new Statements(schema);
  const lockClass = lockClassOf(schema);
  const connect = (name: string, change: Partial<OwnConnectionOptions> = {}) =>
    new OwnConnection({
      config: pool.config,
      name: `pigeonhole ${name}`,
      statements,
      limits: SHORT,
      abandoned,
      ...change,
    });
  const session = connect("session", { hasSession: true, config: sessionConfig(pool.config, sessionConnectionString) });
  const accepting = connect("accept", { sharedLock: { lockClass, of: LOCKED.accepting } });
  const working = connect("work");
  const processSession = new ProcessSession({ session, working, clock, lockClass });
  const close = async (): Promise<void> => {
    await Promise.all([processSession.end(), accepting.end(), working.end(), pool.end()]);
  };
  try {
    await prepare(connect("opening", { limits: LONG }), request, lockClass);
    if (place.setup !== undefined) await setUpTables({ pool, statements, lockClass, setup: place.setup });
    // Either way, others see that the store is open, also before it has accepted anything.
    if (runsHandlers) await processSession.begin();
    else await accepting.run("opening the store", () => Promise.resolve());
  } catch (error) {
    await close();
    throw error;
  }
  const work: OpenPostgres["work"] = (doing, use) => working.run(doing, use);
  return {
    get lock() {
      return processSession.lock;
    },
    begin: () => processSession.begin(),
    hold: () => processSession.hold(),
    ...createBatches({ accepting, working, session: processSession }),
    commit: (settlements, fn, signal) => commitOnPool({ pool, statements, settlements, fn, signal }),
    work,
    lease: (doing, use) => processSession.lease(working, doing, use),
    inPool: (doing, use, withinMs = POOL_ANSWER_MS) =>
      pool.run(
        doing,
        (client) => use(new Sql(client, statements, { answerMs: withinMs, idleMs: SHORT.idleMs })),
        AbortSignal.timeout(withinMs),
      ),
    close,
  };
}

/** Checks the server, and checks the tables or brings them up to date, on a connection that may wait for longer. */
async function prepare(connection: OwnConnection, { place, clock }: OpenRequest, lockClass: number): Promise<void> {
  const { schema, migrate } = place;
  try {
    await connection.run("opening the store", async (sql) => {
      await checkServer(sql);
      await (migrate ? migrateSchema(sql, { schema, lockClass }) : requireSchema(sql, schema));
      await clock.compare(sql);
    });
  } finally {
    await connection.end();
  }
}

/**
 * How the connection with a lasting session is made: as those of the pool, or by a URL of its own. What that does not
 * say of TLS is as for the pool, whose own URL may say it.
 */
export function sessionConfig(ofPool: ClientConfig, connectionString: string | undefined): ClientConfig {
  return connectionString === undefined ? ofPool : { connectionString, ssl: new Client(ofPool).ssl };
}
