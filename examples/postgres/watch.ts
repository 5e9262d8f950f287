import "../check-node.js";
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { startSandboxServer } from "pigeonhole/sandbox";
import { startBalancer } from "./balancer.js";

// An emulated service sends bounces to two receivers behind a balancer, which share one PostgreSQL. SIGKILL meets one
// of them in the middle of each round. At the end there is one row and one contact event for every bounce.
// DATABASE_URL=postgres://… npx tsx examples/postgres/watch.ts (Enter kills once more.) It makes a database of its own
// on that server, and drops it.

const ROUNDS = 3;
const BOUNCES = 8;

const database = await createDatabase(process.env["DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/postgres");
const ports = [await findPort(), await findPort()] as const;
const balancer = await startBalancer(ports);
// Sixty times as fast: the service's first retry, a minute later, comes after a second.
const service = await startSandboxServer({
  clock: { speed: 60 },
  endpoints: [{ url: `http://127.0.0.1:${balancer.port}/`, eventTypes: ["email.bounced"] }],
});
const { sandbox } = service;

let kills = 0;
let killed = Promise.resolve();
const receivers: ChildProcess[] = [];
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void database.drop().finally(() => process.exit(1)));
}
for (const port of ports) receivers.push(await startReceiver(port));
if (process.stdin.isTTY) process.stdin.on("data", () => void killNext());

for (let round = 1; round <= ROUNDS; round += 1) {
  console.log(`\nround ${round}: the service sends ${BOUNCES} bounces`);
  const sent = sendBounces();
  await sleep(BOUNCES * 15); // somewhere in the middle
  await killNext();
  await sent;
  await untilAllArrived(round * BOUNCES);
}

process.stdin.pause();
await killed;
for (const receiver of receivers) {
  receiver.kill("SIGTERM");
  await once(receiver, "exit");
}
const rows = await database.countRows();
const calls = new Set(sandbox.contactEvents.map(({ properties }) => properties["eventId"]));
console.log(`
${ROUNDS * BOUNCES} bounces, ${sandbox.deliveries().length} attempts to deliver them, ${kills} kills
${rows.all} rows in the table "bounce", of ${rows.different} different bounces, written by ${rows.processes} processes
${sandbox.contactEvents.length} contact events at the service, of ${calls.size} different bounces`);
await service.close();
balancer.server.close();
await database.drop();

async function sendBounces(): Promise<void> {
  for (let bounce = 0; bounce < BOUNCES; bounce += 1) {
    sandbox.emit("email.bounced");
    await sleep(25);
  }
}

async function startReceiver(port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, ["--import", "tsx", join(import.meta.dirname, "receiver.ts")], {
    env: {
      ...process.env,
      PORT: String(port),
      DATABASE_URL: database.url,
      WEBHOOK_SECRET: service.endpoints[0]?.secret,
      PIGEONHOLE_BASE_URL: service.url,
      PIGEONHOLE_API_KEY: sandbox.apiKey,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  child.once("exit", () => process.off("exit", kill));
  await once(child.stdout, "data");
  console.log(`   receiver ${child.pid} listens`);
  return child;
}

/** One after the other: the receiver that was killed last listens again first. */
function killNext(): Promise<void> {
  killed = killed.then(killReceiver);
  return killed;
}

/** No warning, no clean-up: what is in memory is gone. The other receiver takes over. */
async function killReceiver(): Promise<void> {
  const place = kills % 2;
  kills += 1;
  const receiver = receivers[place];
  if (receiver === undefined) return;
  console.log(`   SIGKILL to receiver ${receiver.pid}: ${sandbox.contactEvents.length} contact events at the service`);
  receiver.kill("SIGKILL");
  await once(receiver, "exit");
  receivers[place] = await startReceiver(ports[place] ?? 0);
}

async function untilAllArrived(expected: number): Promise<void> {
  while (sandbox.contactEvents.length < expected || sandbox.openDeliveries > 0) await sleep(50);
  console.log(`   all ${expected} contact events are at the service`);
}

/** An empty database on the server. */
async function createDatabase(server: string) {
  const name = `example_${randomBytes(6).toString("hex")}`;
  const url = Object.assign(new URL(server), { pathname: `/${name}` }).href;
  const run = async <Row extends object>(connectionString: string, sql: string): Promise<Row | undefined> => {
    const client = new Client({ connectionString });
    await client.connect();
    try {
      return (await client.query<Row>(sql)).rows[0];
    } finally {
      await client.end();
    }
  };
  await run(server, `CREATE DATABASE ${name}`);
  return {
    url,
    drop: () => run(server, `DROP DATABASE ${name} WITH (FORCE)`),
    async countRows() {
      const counts = await run<{ all: number; different: number; processes: number }>(
        url,
        `SELECT count(*)::integer AS all, count(DISTINCT event)::integer AS different,
           count(DISTINCT process)::integer AS processes FROM bounce`,
      );
      return counts ?? { all: 0, different: 0, processes: 0 };
    },
  };
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port: free } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return free;
}
