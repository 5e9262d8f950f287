import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Client } from "pg";
import { findFreePort } from "./free-port.js";
import { MEMORY_DISK } from "./memory-disk.js";
import { isRoot } from "./tools.js";

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

/** A server, or a database on it. */
export interface PostgresServer {
  /** Connection string of a user who may do everything. */
  url: string;
  stop: () => Promise<void>;
}

export type Settings = Record<string, string>;

/** A folder with the data of an empty server. */
export async function makeData(programs: string, parent = MEMORY_DISK): Promise<string> {
  const folder = mkdtempSync(join(parent, "pigeonhole-postgres-"));
  const data = join(folder, "data");
  mkdirSync(data, { mode: 0o700 });
  if (isRoot()) for (const path of [folder, data]) chownSync(path, OTHER_USER, OTHER_USER);
  const initdb = ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
  await promisify(execFile)(join(programs, "initdb"), initdb, { ...serverUser(), cwd: folder });
  return folder;
}

export function serverUser(): { uid?: number; gid?: number } {
  return isRoot() ? { uid: OTHER_USER, gid: OTHER_USER } : {};
}

/** Starts a server on such a folder, which ends with this process. */
export async function serve(programs: string, folder: string, settings: Settings): Promise<PostgresServer> {
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

async function untilReady(url: string, watch: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (watch.exitCode !== null) throw new Error("PostgreSQL did not start.");
    if ((await runSql(url, "SELECT 1").catch(() => undefined)) !== undefined) return;
    await sleep(50);
  }
  throw new Error("PostgreSQL did not become ready.");
}

/** Runs a statement on a connection of its own, and returns its rows. */
export async function runSql<Row extends object>(connectionString: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString });
  client.on("error", () => undefined);
  try {
    await client.connect();
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function stop(watch: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    watch.once("exit", () => resolve());
    watch.stdin?.end();
  });
}
