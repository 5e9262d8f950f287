import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { SECOND } from "../../base/duration.js";
import { PigeonholeError } from "../../base/error.js";
import { nameOfDatabase } from "../connection-string.js";
import { asPostgresError, sqlStateOf } from "./store-error.js";

const CONNECT_TIMEOUT_MS = 5 * SECOND;

/** An empty database of PostgreSQL for the time of a test. */
export interface TemporaryDatabase {
  /** Where it is, as `openInbox` takes it. */
  readonly place: string;
  /** Removes it, whatever is still connected to it. */
  drop(): Promise<void>;
}

/** Creates an empty database beside the one at this place. */
export async function createDatabaseBeside(place: string): Promise<TemporaryDatabase> {
  const name = `pigeonhole_test_${randomBytes(6).toString("hex")}`;
  await run(place, `CREATE DATABASE ${name}`);
  const url = new URL(place);
  url.pathname = `/${name}`;
  // What is still connected is of the test.
  return { place: url.href, drop: () => run(place, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function run(place: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: place, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query(sql);
  } catch (error) {
    if (sqlStateOf(error) !== "42501") {
      throw asPostgresError(error, `making a temporary database beside ${nameOfDatabase(place)}`);
    }
    throw new PigeonholeError(
      "invalid_argument",
      `The user of ${nameOfDatabase(place)} may not create a temporary database. Give the user the right with ALTER ROLE … CREATEDB, or name an empty database with --inbox.`,
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}
