import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createPostgresStore } from "pigeonhole/postgres";
import { Client } from "pg";
import { BODY_BYTES, EVENT_TYPE, HANDLER_NAME } from "../sample-delivery.js";
import { percentile } from "../stats.js";
import { formatNumber, formatTable, printLine, printProgress, printTitle } from "../table.js";
import type { MeasureContext } from "./context.js";
import { withPostgres } from "./store-runs.js";

const MINUTE = 60_000;
const RATE = 1_000;
const KEPT_MS = MINUTE;
const STEP_MS = 10;
/** Retention removes as a receiver does: small batches with a pause between them. */
const BATCH = 100;
const BETWEEN_BATCHES_MS = 50;
/** The tables are full then, and autovacuum has run. */
const FIRST = 3;

type BenchStore = ReturnType<typeof createPostgresStore>;

async function takeOne(store: BenchStore, body: Buffer, dueAt: number): Promise<number> {
  const now = Date.now();
  const work = [{ handler: HANDLER_NAME, leaseUntil: now + MINUTE }];
  const common = { type: EVENT_TYPE, receivedAt: now, signedAt: now, test: false };
  const result = await store.accept({ ...common, id: randomUUID(), body, work });
  const tookMs = performance.now() - dueAt;
  const [lease] = result.kind === "stored" ? result.leases : [];
  if (lease === undefined) throw new Error("an event was not leased");
  await store.settle({ ...lease, at: Date.now(), dropSteps: false, to: "done" });
  return tookMs;
}

/** Events at even distances for a minute; resolves with how long each was waited for, in ascending order. */
async function takeForAMinute(store: BenchStore, body: Buffer): Promise<number[]> {
  const begunAt = performance.now();
  const taken: Promise<number>[] = [];
  while (taken.length < (RATE * MINUTE) / 1_000) {
    const due = Math.min((RATE * MINUTE) / 1_000, ((performance.now() - begunAt) * RATE) / 1_000);
    while (taken.length < due) taken.push(takeOne(store, body, begunAt + (taken.length * 1_000) / RATE));
    await sleep(STEP_MS);
  }
  return (await Promise.all(taken)).toSorted((a, b) => a - b);
}

async function pruneUntil(store: BenchStore, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const now = Date.now();
    const before = now - KEPT_MS;
    const limits = { now, idsBefore: before, bodiesBefore: before, sentBefore: before, batch: BATCH };
    await sleep((await store.prune(limits)) === 0 ? 1_000 : BETWEEN_BATCHES_MS);
  }
}

const SIZES = `SELECT relname AS name, pg_total_relation_size(relid) / 1e6 AS mb FROM pg_stat_user_tables
  WHERE relname IN ('inbox_event', 'inbox_body', 'inbox_work') ORDER BY relname`;

/** A steady rate, with a retention that lets go as much as arrives: what the tables and the answers are later on. */
export function measurePostgresSteady(context: MeasureContext): Promise<void> {
  const { facts, options, runtime } = context;
  return withPostgres(context, async ({ url }) => {
    printTitle(`PostgreSQL, Node ${runtime.version}: ${RATE} events a second for ${options.minutes} minutes`);
    const logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => logger };
    const store = createPostgresStore({ connectionString: url });
    const client = new Client({ connectionString: url });
    await client.connect();
    await store.open({ logger });
    await store.recover(Date.now());
    const ending = new AbortController();
    const pruning = pruneUntil(store, ending.signal);
    const body = randomBytes(BODY_BYTES);
    const minutes: { p99: number; mb: number[] }[] = [];
    while (minutes.length < options.minutes) {
      const p99 = percentile(await takeForAMinute(store, body), 0.99);
      const { rows } = await client.query<{ name: string; mb: string }>(SIZES);
      minutes.push({ p99, mb: rows.map(({ mb }) => Number(mb)) });
      printProgress(`minute ${minutes.length}: ${JSON.stringify(minutes.at(-1))}`);
    }
    ending.abort();
    await pruning;
    await store.close();
    await client.end();
    const cells = minutes.map(({ p99, mb }, at) => [String(at + 1), ...[p99, ...mb].map((n) => formatNumber(n, 1))]);
    printLine(formatTable(["minute", "p99 ms", "bodies MB", "events MB", "work MB"], cells));
    const [first, last] = [minutes[FIRST], minutes.at(-1)];
    const sum = (mb: readonly number[] = []): number => mb.reduce((total, size) => total + size, 0);
    facts.set("postgres steady size", sum(last?.mb) / sum(first?.mb));
    facts.set("postgres steady p99", (last?.p99 ?? Number.NaN) / (first?.p99 ?? Number.NaN));
  });
}
