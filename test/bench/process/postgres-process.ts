import { randomBytes, randomUUID } from "node:crypto";
import { createSqliteStore } from "pigeonhole";
import { createPostgresStore } from "pigeonhole/postgres";
import { Pool } from "pg";
import type { Lease } from "#pigeonhole/store/work.js";
import type { NewEvent, Store } from "#pigeonhole/store/store.js";
import type { PostgresTransaction } from "#pigeonhole/store/postgres/call-with-client.js";
import { BODY_BYTES, EVENT_TYPE, HANDLER_NAME } from "../sample-delivery.js";
import { median } from "../stats.js";
import { serveCalls } from "./child-calls.js";
import { ownCpuMicros } from "./cpu-time.js";
import { openGraphileWorker, openPgBoss } from "./postgres-queues.js";

/** What takes an event, until all that belongs to it is durable. */
type Take = (id: string, body: Buffer) => Promise<unknown>;

interface Opened {
  take: Take;
  close(): Promise<void>;
}

export const POSTGRES_WAYS = [
  "insert-50",
  "insert-10",
  "store",
  "commit",
  "sqlite",
  "graphile-worker",
  "pg-boss",
] as const;
export type PostgresWay = (typeof POSTGRES_WAYS)[number];

export interface PostgresPlan {
  way: PostgresWay;
  url: string;
  /** For the store in SQLite. */
  file: string;
  /** Folder with the packages of the job libraries, for those two. */
  packages?: string;
}

export interface PostgresInterval {
  events: number;
  seconds: number;
  /** From the call until all is durable. */
  p50Ms: number;
  /** CPU of this process. */
  cpuMicros: number;
}

const LEASE_MS = 60_000;

function openInserts(url: string, size: number): Opened {
  const pool = new Pool({ connectionString: url, max: size });
  const text = "INSERT INTO inbox_each (id, type, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
  return {
    take: (id, body) => pool.query({ name: "insert", text, values: [id, EVENT_TYPE, body] }),
    close: () => pool.end(),
  };
}

/** Accepts an event whose work is leased in the same commit, and settles that. */
async function openStore<Tx>(
  store: Store<Tx>,
  settle: (store: Store<Tx>, lease: Lease, id: string) => Promise<unknown>,
): Promise<Opened> {
  const logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => logger };
  await store.open({ logger });
  await store.recover(Date.now());
  return {
    async take(id, body) {
      const now = Date.now();
      const work = [{ handler: HANDLER_NAME, leaseUntil: now + LEASE_MS }];
      const event: NewEvent = { id, type: EVENT_TYPE, receivedAt: now, signedAt: now, test: false, body, work };
      const result = await store.accept(event);
      const lease = result.kind === "stored" ? result.leases[0] : undefined;
      if (lease === undefined) throw new Error("an event was not leased");
      await settle(store, lease, id);
    },
    close: () => store.close(),
  };
}

const done = (lease: Lease) => ({ ...lease, at: Date.now(), dropSteps: false, to: "done" }) as const;
const settleDone = <Tx>(store: Store<Tx>, lease: Lease): Promise<unknown> => store.settle(done(lease));

async function open({ way, url, file, packages = "" }: PostgresPlan): Promise<Opened> {
  switch (way) {
    case "insert-50":
      return openInserts(url, 50);
    case "insert-10":
      return openInserts(url, 10);
    case "store":
      return openStore(createPostgresStore({ connectionString: url }), settleDone);
    case "commit":
      return openStore<PostgresTransaction>(createPostgresStore({ connectionString: url }), (store, lease, id) =>
        store.commit(done(lease), ({ client }) => client.query("INSERT INTO effects (id) VALUES ($1)", [id])),
      );
    case "sqlite":
      return openStore(createSqliteStore({ file }), settleDone);
    case "graphile-worker":
      return openGraphileWorker(url, packages);
    case "pg-boss":
      return openPgBoss(url, packages);
  }
}

let opened: Opened | undefined;

const calls = {
  async open(plan: PostgresPlan): Promise<void> {
    opened = await open(plan);
  },
  /** So many callers, each of which takes the next event when its last one is done. */
  async run({ seconds, callers }: { seconds: number; callers: number }): Promise<PostgresInterval> {
    const take = opened?.take;
    if (take === undefined) throw new Error("not open");
    const body = randomBytes(BODY_BYTES);
    const cpuBefore = ownCpuMicros();
    const begunAt = performance.now();
    const endAt = begunAt + seconds * 1_000;
    const tookMs: number[] = [];
    const call = async (): Promise<void> => {
      for (let at = performance.now(); at < endAt; at = performance.now()) {
        await take(randomUUID(), body);
        tookMs.push(performance.now() - at);
      }
    };
    await Promise.all(Array.from({ length: callers }, call));
    return {
      events: tookMs.length,
      seconds: (performance.now() - begunAt) / 1_000,
      p50Ms: median(tookMs),
      cpuMicros: ownCpuMicros() - cpuBefore,
    };
  },
  async close(): Promise<void> {
    await opened?.close();
  },
};

export type PostgresCalls = typeof calls;

serveCalls(calls);
