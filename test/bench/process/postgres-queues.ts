import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Pool, type PoolClient } from "pg";
import { EVENT_TYPE, HANDLER_NAME } from "../sample-delivery.js";
import { groupCalls } from "./group-calls.js";

/** The packages of the two job libraries, for a folder of their own. Fixed, so that runs can be compared. */
export const JOB_PACKAGES = { pg: "8.23.1", "pg-boss": "12.38.0", "graphile-worker": "0.18.0" };

/** A receiver made of a job library, which stores the rows that ours stores: event, job and done mark. */
export interface JobReceiver {
  /** Resolves once the event is stored, a worker has run its job, and the done mark is durable. */
  take(id: string, body: Buffer): Promise<void>;
  close(): Promise<void>;
}

interface Row {
  id: string;
  body: Buffer;
}

/** As many as a receiver of 50 callers can use. */
const POOL_SIZE = 10;
const JOBS_AT_ONCE = 256;
const IDLE_POLL_MS = 20;

const STORE_ROWS = `INSERT INTO $table (id, type, body)
  SELECT id, $1, body FROM unnest($2::text[], $3::bytea[]) AS given (id, body) ON CONFLICT DO NOTHING RETURNING seq, id`;
const MARK_ROWS = "INSERT INTO $table_done (seq, handler, at) SELECT seq, $1, now() FROM unnest($2::bigint[]) AS seq";

/** The tables of one library, and those who wait until the mark of their event is durable. */
async function openRows(pool: Pool, table: string) {
  await pool.query(`DROP TABLE IF EXISTS ${table}, ${table}_done`);
  await pool.query(
    `CREATE TABLE ${table} (seq bigserial PRIMARY KEY, id text NOT NULL UNIQUE, type text NOT NULL, body bytea NOT NULL)`,
  );
  await pool.query(
    `CREATE TABLE ${table}_done (seq bigint, handler text, at timestamptz NOT NULL, PRIMARY KEY (seq, handler))`,
  );
  const waiting = new Map<string, () => void>();
  const named = (sql: string): string => sql.replaceAll("$table", table);
  return {
    storeSql: named(STORE_ROWS),
    storeValues: (rows: readonly Row[]) => [EVENT_TYPE, rows.map(({ id }) => id), rows.map(({ body }) => body)],
    markSql: named(MARK_ROWS),
    markValues: (seqs: readonly string[]) => [HANDLER_NAME, seqs],
    /** Stores the event, and waits for its mark. */
    async take(store: (row: Row) => Promise<void>, row: Row) {
      const marked = new Promise<void>((resolve) => waiting.set(row.id, resolve));
      await store(row);
      await marked;
    },
    noteMarked(id: string) {
      waiting.get(id)?.();
      waiting.delete(id);
    },
  };
}

interface JobOfEvent {
  seq: string;
  id: string;
}

interface GraphileModule {
  Logger: new (scopeTo: () => () => void) => object;
  run(options: object): Promise<{ stop(): Promise<void> }>;
  makeWorkerUtils(options: object): Promise<{ migrate(): Promise<void>; release(): Promise<void> }>;
}

/** Events and jobs in one statement, its local queue and batched completions, and marks in batches of our own. */
export async function openGraphileWorker(url: string, packages: string): Promise<JobReceiver> {
  const graphile = (await loadPackage("graphile-worker", packages)) as GraphileModule;
  const logger = new graphile.Logger(() => () => undefined);
  const utils = await graphile.makeWorkerUtils({ connectionString: url, logger });
  await utils.migrate();
  await utils.release();
  const pool = new Pool({ connectionString: url, max: POOL_SIZE });
  const rows = await openRows(pool, "graphile_event");
  const storeSql = `WITH stored AS (${rows.storeSql}), jobs AS (
      SELECT array_agg(('delivery', json_build_object('seq', seq::text, 'id', id), NULL, NULL, NULL, NULL, NULL, NULL)
        ::graphile_worker.job_spec) AS specs FROM stored)
    SELECT count(*) FROM jobs, LATERAL graphile_worker.add_jobs(specs)`;
  const store = groupCalls<Row>((batch) =>
    pool.query({ name: "store", text: storeSql, values: rows.storeValues(batch) }),
  );
  const mark = groupCalls<JobOfEvent>((batch) =>
    pool.query({ name: "mark", text: rows.markSql, values: rows.markValues(batch.map(({ seq }) => seq)) }),
  );
  const runner = await graphile.run({
    preset: {
      worker: {
        connectionString: url,
        maxPoolSize: POOL_SIZE,
        concurrentJobs: JOBS_AT_ONCE,
        pollInterval: IDLE_POLL_MS,
        localQueue: { size: JOBS_AT_ONCE + 1 },
        completeJobBatchDelay: 5,
        failJobBatchDelay: 5,
        logger,
      },
    },
    noHandleSignals: true,
    taskList: {
      async delivery(job: JobOfEvent) {
        await mark(job);
        rows.noteMarked(job.id);
      },
    },
  });
  return {
    take: (id, body) => rows.take(store, { id, body }),
    async close() {
      await runner.stop();
      await pool.end();
    },
  };
}

interface Database {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

interface PgBoss {
  on(name: "error", listener: (error: Error) => void): void;
  start(): Promise<unknown>;
  stop(options: object): Promise<void>;
  createQueue(name: string): Promise<unknown>;
  insert(queue: string, jobs: { data: JobOfEvent }[], options: { db: Database }): Promise<unknown>;
  fetch(queue: string, options: { batchSize: number }): Promise<{ id: string; data: JobOfEvent }[]>;
  complete(queue: string, ids: string[], data: null, options: { db: Database }): Promise<unknown>;
}

/** Events and jobs in one transaction, whole batches fetched, marks and completions in one transaction. */
export async function openPgBoss(url: string, packages: string): Promise<JobReceiver> {
  const module = (await loadPackage("pg-boss", packages)) as { PgBoss: new (options: object) => PgBoss };
  const boss = new module.PgBoss({ connectionString: url, max: POOL_SIZE });
  boss.on("error", (error) => process.stderr.write(`pg-boss: ${error.message}\n`));
  await boss.start();
  await boss.createQueue("deliveries");
  const pool = new Pool({ connectionString: url, max: POOL_SIZE });
  const rows = await openRows(pool, "boss_event");
  let wake = (): void => undefined;
  const store = groupCalls<Row>(async (batch) => {
    await inTransaction(pool, async (client) => {
      const stored = await client.query<JobOfEvent>({
        name: "store",
        text: rows.storeSql,
        values: rows.storeValues(batch),
      });
      const jobs = stored.rows.map(({ seq, id }) => ({ data: { seq, id } }));
      await boss.insert("deliveries", jobs, { db: databaseOf(client) });
    });
    wake();
  });
  const closing = new AbortController();
  const work = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      const jobs = await boss.fetch("deliveries", { batchSize: JOBS_AT_ONCE });
      if (jobs.length === 0) {
        await wokenOr(IDLE_POLL_MS);
        continue;
      }
      await inTransaction(pool, async (client) => {
        const seqs = jobs.map(({ data }) => data.seq);
        await client.query({ name: "mark", text: rows.markSql, values: rows.markValues(seqs) });
        const ids = jobs.map(({ id }) => id);
        await boss.complete("deliveries", ids, null, { db: databaseOf(client) });
      });
      for (const { data } of jobs) rows.noteMarked(data.id);
    }
  };
  const wokenOr = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const worker = work();
  return {
    take: (id, body) => rows.take(store, { id, body }),
    async close() {
      closing.abort();
      await worker;
      await boss.stop({ graceful: false });
      await pool.end();
    },
  };
}

async function inTransaction(pool: Pool, run: (client: PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    await run(client);
    await client.query("COMMIT");
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
}

function databaseOf(client: PoolClient): Database {
  return { executeSql: (text, values) => client.query(text, values) };
}

/** Either kind of module, from a folder of packages. */
async function loadPackage(name: string, folder: string): Promise<unknown> {
  const file = createRequire(join(folder, "package.json")).resolve(name);
  return await import(pathToFileURL(file).href);
}
