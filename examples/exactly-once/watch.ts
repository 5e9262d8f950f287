import "../check-node.js";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { startSandboxServer } from "pigeonhole/sandbox";

// An emulated service sends bounces, receiver.ts works on them, and SIGKILL meets it in the middle of each round. At
// the end there is one row and one contact event for every bounce. npx tsx examples/exactly-once/watch.ts (Enter kills
// once more.)

const ROUNDS = 3;
const BOUNCES = 8;

const folder = mkdtempSync(join(tmpdir(), "exactly-once-"));
const store = join(folder, "pigeonhole.db");
const port = await findPort();
// Sixty times as fast: the service's first retry, a minute later, comes after a second.
const service = await startSandboxServer({
  clock: { speed: 60 },
  endpoints: [{ url: `http://127.0.0.1:${port}/`, eventTypes: ["email.bounced"] }],
});
const { sandbox } = service;

let kills = 0;
let receiver = await startReceiver();
if (process.stdin.isTTY) process.stdin.on("data", () => void killReceiver());
process.once("exit", () => {
  receiver.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

for (let round = 1; round <= ROUNDS; round += 1) {
  console.log(`\nround ${round}: the service sends ${BOUNCES} bounces`);
  const sent = sendBounces();
  await sleep(BOUNCES * 15); // somewhere in the middle
  await killReceiver();
  await sent;
  await untilAllArrived(round * BOUNCES);
}

process.stdin.pause();
receiver.kill("SIGTERM");
await once(receiver, "exit");
const rows = countRows();
const attempts = sandbox.deliveries().length;
const calls = new Set(sandbox.contactEvents.map(({ properties }) => properties["eventId"]));
console.log(`
${ROUNDS * BOUNCES} bounces, ${attempts} attempts to deliver them, ${kills} kills
${rows.all} rows in the table "bounce", of ${rows.different} different bounces
${sandbox.contactEvents.length} contact events at the service, of ${calls.size} different bounces`);
await service.close();

async function sendBounces(): Promise<void> {
  for (let bounce = 0; bounce < BOUNCES; bounce += 1) {
    sandbox.emit("email.bounced");
    await sleep(25);
  }
}

async function startReceiver(): Promise<ChildProcess> {
  const child = spawn(process.execPath, ["--import", "tsx", join(import.meta.dirname, "receiver.ts")], {
    env: {
      ...process.env,
      PORT: String(port),
      DATABASE_FILE: store,
      WEBHOOK_SECRET: service.endpoints[0]?.secret,
      PIGEONHOLE_BASE_URL: service.url,
      PIGEONHOLE_API_KEY: sandbox.apiKey,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  console.log(`   receiver ${child.pid} listens`);
  return child;
}

/** No warning, no clean-up: what is in memory is gone. */
async function killReceiver(): Promise<void> {
  kills += 1;
  console.log(
    `   SIGKILL to receiver ${receiver.pid}: ${sandbox.contactEvents.length} contact events are at the service`,
  );
  receiver.kill("SIGKILL");
  await once(receiver, "exit");
  receiver = await startReceiver();
}

async function untilAllArrived(expected: number): Promise<void> {
  while (sandbox.contactEvents.length < expected || sandbox.openDeliveries > 0) await sleep(50);
  console.log(`   all ${expected} contact events are at the service`);
}

function countRows(): { all: number; different: number } {
  const db = new Database(store, { readonly: true });
  const sql = "SELECT count(*) AS 'all', count(DISTINCT event) AS different FROM bounce";
  const counts = db.prepare<[], { all: number; different: number }>(sql).get();
  db.close();
  return counts ?? { all: 0, different: 0 };
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port: free } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return free;
}
