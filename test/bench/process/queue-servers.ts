import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { endWithUs } from "./child.js";
import { findFreePort } from "../../support/free-port.js";

/** A database server on the loopback interface, with its data in a directory of its own. */
export interface QueueServer {
  port: number;
  pid: number;
  end(): Promise<void>;
}

const START_LIMIT_MS = 30_000;
const POLL_MS = 100;
const DEBIAN_POSTGRES = "/usr/lib/postgresql";

async function waitForPort(child: ChildProcess, port: number, program: string): Promise<void> {
  const deadline = performance.now() + START_LIMIT_MS;
  let failure: string | undefined;
  child.once("error", (error) => (failure = error.message));
  child.once("exit", (code) => (failure = `it ended with ${code}`));
  for (;;) {
    if (failure !== undefined) throw new Error(`${program} did not start: ${failure}`);
    if (performance.now() > deadline) throw new Error(`${program} did not start in time`);
    const socket = connect({ host: "127.0.0.1", port });
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await sleep(POLL_MS);
  }
}

function manage(child: ChildProcess, directory: string, port: number, stopSignal: NodeJS.Signals): QueueServer {
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  process.once("exit", remove);
  return {
    port,
    pid: child.pid ?? 0,
    async end() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, "exit");
        child.kill(stopSignal);
        await ended;
      }
      remove();
    },
  };
}

/** Redis as durable as it can be: each write is in the append-only file, and on disk, before it is answered. */
export async function startRedis(parent: string): Promise<QueueServer> {
  const directory = mkdtempSync(join(parent, "pigeonhole-bench-redis-"));
  const port = await findFreePort();
  const durable = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""];
  const args = ["--bind", "127.0.0.1", "--port", String(port), "--dir", directory, ...durable];
  const child = spawn("redis-server", args, { stdio: "ignore" });
  endWithUs(child);
  const server = manage(child, directory, port, "SIGTERM");
  await waitForPort(child, port, "redis-server (Debian: redis-server)");
  return server;
}

/** PostgreSQL refuses to run as root, so it gets the account that Debian made for it. */
function postgresAccount(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const ask = (flag: string): number => Number(spawnSync("id", [flag, "postgres"], { encoding: "utf8" }).stdout);
  return { uid: ask("-u"), gid: ask("-g") };
}

function findPostgres(): string {
  const versions = existsSync(DEBIAN_POSTGRES) ? readdirSync(DEBIAN_POSTGRES).map(Number) : [];
  if (versions.length === 0) throw new Error(`PostgreSQL is not in ${DEBIAN_POSTGRES} (Debian: postgresql)`);
  return join(DEBIAN_POSTGRES, String(Math.max(...versions)), "bin");
}

/** It listens before it takes connections. */
async function untilItAnswers(url: string): Promise<void> {
  const deadline = performance.now() + START_LIMIT_MS;
  for (;;) {
    const client = new Client({ connectionString: url });
    try {
      await client.connect();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(POLL_MS);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

/** PostgreSQL with its own defaults, fsync and synchronous_commit on among them. */
export async function startPostgres(parent: string): Promise<QueueServer & { url: string }> {
  const programs = findPostgres();
  const account = postgresAccount();
  const directory = mkdtempSync(join(parent, "pigeonhole-bench-postgres-"));
  if (account) chownSync(directory, account.uid, account.gid);
  const data = join(directory, "data");
  const initArgs = ["-D", data, "-U", "bench", "--auth=trust", "--encoding=UTF8", "--no-instructions"];
  const made = spawnSync(join(programs, "initdb"), initArgs, { ...account, cwd: directory, encoding: "utf8" });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.error?.message ?? made.stderr.trim()}`);
  const port = await findFreePort();
  const place = ["-D", data, "-h", "127.0.0.1", "-p", String(port), "-k", directory];
  const child = spawn(join(programs, "postgres"), place, { ...account, cwd: directory, stdio: "ignore" });
  endWithUs(child);
  const server = manage(child, directory, port, "SIGINT");
  await waitForPort(child, port, "postgres");
  const url = `postgres://bench@127.0.0.1:${port}/postgres`;
  await untilItAnswers(url);
  return { ...server, url };
}
