import { Pool } from "pg";
import { SECOND } from "../../base/duration.js";
import { nameOfDatabase, readDatabasePlace } from "../connection-string.js";
import { AbandonedSessions } from "./abandoned-sessions.js";
import { checkSchema } from "./migrate-schema.js";
import { readServerTime } from "./database-clock.js";
import { SharedPool } from "./shared-pool.js";
import { SHORT } from "./own-connection.js";
import { Sql, Statements } from "./sql.js";

const CONNECT_TIMEOUT_MS = 5 * SECOND;

/** Lists of a large database take long. */
const ANSWER_MS = 60 * SECOND;

/** Reads and changes of a person beside the receivers; each change is one transaction. */
export interface BesideReceivers {
  /** The database's time, in milliseconds since 1970. */
  readonly now: (sql: Sql) => Promise<number> | number;
  readonly read: <Value>(doing: string, use: (sql: Sql) => Promise<Value>) => Promise<Value>;
  readonly write: <Value>(doing: string, use: (sql: Sql, now: number) => Promise<Value>) => Promise<Value>;
}

export interface OpenBeside {
  /** Server and database without the password. */
  readonly database: string;
  readonly schema: string;
  readonly beside: BesideReceivers;
  readonly close: () => Promise<void>;
}

/** Connects to a place as commands take it, and checks its tables without changing them. */
export async function openBesideReceivers(place: string): Promise<OpenBeside> {
  const { connectionString, schema } = readDatabasePlace(place);
  const database = nameOfDatabase(place);
  const pool = new Pool({
    connectionString,
    max: 2,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: "pigeonhole operator",
  });
  const beside = accessTo(pool, schema);
  try {
    await beside.read(`opening ${database}`, (sql) => checkSchema(sql, { schema, database }));
  } catch (error) {
    await pool.end();
    throw error;
  }
  return { database, schema, beside, close: () => pool.end() };
}

/** Work is due by the clock of the server, which the clock of this machine may not agree with. */
function accessTo(pool: Pool, schema: string): BesideReceivers {
  const statements = new Statements(schema);
  const shared = new SharedPool(pool, new AbandonedSessions());
  const read: BesideReceivers["read"] = (doing, use) =>
    shared.run(
      doing,
      (client) => use(new Sql(client, statements, { answerMs: ANSWER_MS, idleMs: SHORT.idleMs })),
      AbortSignal.timeout(ANSWER_MS),
    );
  return {
    now: readServerTime,
    read,
    write: (doing, use) => read(doing, (sql) => sql.transaction(async () => use(sql, await readServerTime(sql)))),
  };
}
