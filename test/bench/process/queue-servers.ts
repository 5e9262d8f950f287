import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { endWithUs } from "./child.js";
import { findFreePort } from "../../support/free-port.js";
import { makeData, serve } from "../../support/postgres-process.js";
import { findPostgresPrograms } from "../../support/tools.js";

/** A database server on the loopback interface, with its data in a directory of its own. */
export interface QueueServer {
  port: number;
  pid: number;
  end(): Promise<void>;
}

const START_LIMIT_MS = 30_000;
const POLL_MS = 100;

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

/** Redis as durable as it can be: each write is in the append-only file, and on disk, before it is answered. */
export async function startRedis(parent: string): Promise<QueueServer> {
  const directory = mkdtempSync(join(parent, "pigeonhole-bench-redis-"));
  const port = await findFreePort();
  const durable = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""];
  const args = ["--bind", "127.0.0.1", "--port", String(port), "--dir", directory, ...durable];
  const child = spawn("redis-server", args, { stdio: "ignore" });
  endWithUs(child);
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  process.once("exit", remove);
  await waitForPort(child, port, "redis-server (Debian: redis-server)");
  return {
    port,
    pid: child.pid ?? 0,
    async end() {
      if (child.kill()) await once(child, "exit");
      remove();
    },
  };
}

/** PostgreSQL with its own defaults, fsync and synchronous_commit on among them. */
export async function startPostgres(parent: string): Promise<QueueServer & { url: string }> {
  const programs = findPostgresPrograms();
  if (programs === undefined) throw new Error("PostgreSQL is not installed (Debian: postgresql)");
  const folder = await makeData(programs, parent);
  const { url, stop } = await serve(programs, folder, {});
  const [pid] = readFileSync(join(folder, "data/postmaster.pid"), "utf8").split("\n");
  return { url, port: Number(new URL(url).port), pid: Number(pid), end: stop };
}
