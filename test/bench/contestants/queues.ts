import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Stripe } from "stripe";
import { groupCalls } from "../process/group-calls.js";
import { SECRET } from "../sample-delivery.js";
import type { RunningContestant } from "./contestant.js";
import { createHookApp } from "./express-hook.js";

/** Where a queue finds its packages and its server; given by the measure through the environment. */
function readEnvironment(name: "BENCH_PEER_PACKAGES" | "BENCH_REDIS_PORT" | "BENCH_POSTGRES_URL"): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`this contestant runs only at --only peers (${name} is not set)`);
  return value;
}

/** A package of the peers' own folder; the caller says what it uses of it. */
function loadPeer(name: string): unknown {
  return createRequire(join(readEnvironment("BENCH_PEER_PACKAGES"), "package.json"))(name);
}

interface ReceivedEvent {
  id: string;
  type: string;
  event: object;
  body: Buffer;
}

/** Verifies with stripe on Express, enqueues, and answers once that is durable. */
function startEnqueueing(enqueue: (received: ReceivedEvent) => Promise<unknown>): RunningContestant {
  const app = createHookApp(async (body, request) => {
    const event = Stripe.webhooks.constructEvent(body, request.get("stripe-signature") ?? "", SECRET);
    await enqueue({ id: event.id, type: event.type, event, body });
  });
  return { server: createServer(app) };
}

interface BullQueue {
  waitUntilReady(): Promise<unknown>;
  add(name: string, data: object, options: { jobId: string }): Promise<unknown>;
}

export async function startBullmq(): Promise<RunningContestant> {
  const { Queue } = loadPeer("bullmq") as { Queue: new (name: string, options: object) => BullQueue };
  const queue = new Queue("deliveries", {
    connection: { host: "127.0.0.1", port: Number(readEnvironment("BENCH_REDIS_PORT")) },
  });
  await queue.waitUntilReady();
  return startEnqueueing(({ id, type, event }) => queue.add(type, event, { jobId: id }));
}

interface PgPool {
  query(query: string | { name: string; text: string; values: unknown[] }, values?: unknown[]): Promise<unknown>;
}

/** As pg-boss and graphile-worker have by themselves. */
const POOL_SIZE = 10;

async function openPool(table: string): Promise<PgPool> {
  const { Pool } = loadPeer("pg") as { Pool: new (options: object) => PgPool };
  const pool = new Pool({ connectionString: readEnvironment("BENCH_POSTGRES_URL"), max: POOL_SIZE });
  const columns = "seq bigserial PRIMARY KEY, id text NOT NULL UNIQUE, type text NOT NULL, body bytea NOT NULL";
  await pool.query(`CREATE TABLE ${table} (${columns})`);
  return pool;
}

export async function startInsert(): Promise<RunningContestant> {
  const pool = await openPool("inbox_each");
  const text = "INSERT INTO inbox_each (id, type, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
  return startEnqueueing(({ id, type, body }) => pool.query({ name: "insert", text, values: [id, type, body] }));
}

export async function startGroupedInsert(): Promise<RunningContestant> {
  const pool = await openPool("inbox_grouped");
  const insertRows = groupCalls<ReceivedEvent>((rows) => {
    const places = rows.map((_, index) => `($${3 * index + 1}, $${3 * index + 2}, $${3 * index + 3})`);
    return pool.query(
      `INSERT INTO inbox_grouped (id, type, body) VALUES ${places.join(", ")} ON CONFLICT DO NOTHING`,
      rows.flatMap(({ id, type, body }) => [id, type, body]),
    );
  });
  return startEnqueueing(insertRows);
}

interface Boss {
  on(name: "error", listener: (error: Error) => void): void;
  start(): Promise<unknown>;
  createQueue(name: string): Promise<unknown>;
  send(queue: string, data: object, options: { id: string }): Promise<unknown>;
}

/** Its job ids are UUIDs; one made of the event id lets its primary key deduplicate. */
function uuidOf(id: string): string {
  return createHash("md5")
    .update(id)
    .digest("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

export async function startPgBoss(): Promise<RunningContestant> {
  const Boss = loadPeer("pg-boss") as new (options: object) => Boss;
  const boss = new Boss({ connectionString: readEnvironment("BENCH_POSTGRES_URL"), max: POOL_SIZE });
  boss.on("error", (error) => process.stderr.write(`pg-boss: ${error.message}\n`));
  await boss.start();
  await boss.createQueue("deliveries");
  return startEnqueueing(({ id, event }) => boss.send("deliveries", event, { id: uuidOf(id) }));
}

interface WorkerUtils {
  migrate(): Promise<void>;
  addJob(task: string, payload: object, options: { jobKey: string }): Promise<unknown>;
}

export async function startGraphileWorker(): Promise<RunningContestant> {
  const graphile = loadPeer("graphile-worker") as { makeWorkerUtils(options: object): Promise<WorkerUtils> };
  const connectionString = readEnvironment("BENCH_POSTGRES_URL");
  const utils = await graphile.makeWorkerUtils({ connectionString, maxPoolSize: POOL_SIZE });
  await utils.migrate();
  return startEnqueueing(({ id, event }) => utils.addJob("delivery", event, { jobKey: id }));
}
