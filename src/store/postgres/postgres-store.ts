import type { Pool } from "pg";
import { PigeonholeError } from "../../base/error.js";
import { SECOND } from "../../base/duration.js";
import { type OptionsOf, type Resolved, callable, defineOptions, flag, readBy } from "../../base/options.js";
import { SCHEMA_NAME_RULE, checkConnectionString, isSchemaName } from "../connection-string.js";
import type { RecoverResult, Store, StoreContext } from "../store.js";
import { listStuck } from "../queries/events.js";
import { writePolicies, listPaused } from "../queries/handlers.js";
import { noteTimes } from "../queries/known-ids.js";
import { beginNewest } from "../queries/newest.js";
import { reserveRuns } from "../queries/run-slots.js";
import type { StoreQuery } from "../queries/store-query.js";
import { settleCall } from "../queries/outbox-calls.js";
import { type PrunedTo, pruneBatch } from "../queries/prune.js";
import { recordContactEvent } from "../queries/contact-event-changes.js";
import { replanEvent } from "../queries/replan.js";
import { restartAll, restartPage } from "../queries/restart-waits.js";
import { loadSteps, saveStep } from "../queries/steps.js";
import { DatabaseClock } from "./database-clock.js";
import { type SharedStore, withDatabaseTimes } from "./database-times.js";
import type { OpenPostgres, PostgresPlace } from "./open-postgres.js";
import type { Leasing } from "./process-session.js";
import { glance } from "./operations/glance.js";
import { readTableSizes, writeFigures } from "./operations/figures.js";
import { leaseWork, releaseLeases, renewLeases } from "./operations/lease.js";
import { leaseSend, maySend } from "./operations/outbox-send.js";
import { type ProcessLock, recoverWork } from "./operations/recover.js";
import { operateInPool } from "./operate-in-pool.js";
import { PostgresOpening } from "./postgres-opening.js";
import type { PostgresTransaction } from "./call-with-client.js";
import type { Sql } from "./sql.js";

/** The options of `createPostgresStore`; one of `pool` and `connectionString` is required. */
export interface PostgresStoreOptions {
  /** The application's pool. `ctx.commit` uses its connections; the store has three of its own beside them. */
  pool?: Pool | undefined;
  /** URL of the database, such as `postgres://app@db.example.com/app`, for a pool of the store's own. */
  connectionString?: string | undefined;
  /**
   * URL of the server itself, where `pool` or `connectionString` leads to a pooler in transaction mode: one connection
   * of the store needs a session that lasts. A receiver that only accepts needs none. @default as the others
   */
  sessionConnectionString?: string | undefined;
  /** Schema of the store's tables, in lower case; made when it does not exist. @default "pigeonhole" */
  schema?: string | undefined;
  /**
   * Makes the tables, and brings them up to date, when the store is opened. With false the store refuses tables that
   * are missing or old; `npx pigeonhole postgres schema` prints the SQL for them. @default true
   */
  migrate?: boolean | undefined;
  /**
   * Makes or migrates your own tables, each time the store is opened and before any handler runs. In one transaction,
   * and of several processes one after the other: if it throws, nothing is written, and `receiver.start()` rejects with
   * what it threw. @default none
   */
  setup?: ((tx: PostgresTransaction) => PromiseLike<unknown>) | undefined;
}

/** The inbox in PostgreSQL, in the same database as your own tables. */
export type PostgresStore = Store<PostgresTransaction>;

/** The defaults and checks of {@link PostgresStoreOptions}. */
export const POSTGRES_STORE_OPTIONS = defineOptions("createPostgresStore", {
  pool: readBy(checkPool),
  connectionString: readBy(checkConnectionString),
  sessionConnectionString: readBy(checkConnectionString),
  schema: readBy(checkSchemaName, { default: "pigeonhole" }),
  migrate: flag({ default: true }),
  setup: callable<(tx: PostgresTransaction) => PromiseLike<unknown>>(),
} satisfies OptionsOf<PostgresStoreOptions>);

/** The inbox in PostgreSQL. Any number of processes may work on it. */
export function createPostgresStore(options: PostgresStoreOptions): PostgresStore {
  const place = placeOf(POSTGRES_STORE_OPTIONS.resolve(options));
  const opening = new PostgresOpening();
  const clock = new DatabaseClock();
  const access = accessTo(opening);
  const { work, leasing, read, write, change } = access;
  let alarm: StoreContext["onAlarm"];
  const reached: PrunedTo = new Map();
  const store: SharedStore = {
    async open({ clock: machine, onAlarm, runsHandlers = true }) {
      clock.begin(machine);
      alarm = onAlarm;
      await opening.open({ place, clock, runsHandlers });
      reached.clear();
      raiseSkew(clock, alarm);
    },
    close: () => opening.close(),
    accept: (event) => opening.use((open) => open.accept(event)),
    settle: (settlement) => opening.use((open) => open.settle(settlement)),
    commit: (given, fn, signal) => opening.use((open) => open.commit([given].flat(), fn, signal)),
    lease: (request) => leasing("leasing work", (sql, holder) => leaseWork(sql, holder, request)),
    renew: (leases, leaseUntil) => work("renewing leases", (sql) => renewLeases(sql, leases, leaseUntil)),
    holdKey: (lease, key) => opening.use((open) => open.holdKey({ lease, key })),
    async release(leases, now) {
      // Refused outside of the transaction that a pooler needs, which keeps what it has released.
      if (await work("releasing leases", (sql) => releaseLeases(sql, leases, now))) return;
      throw new PigeonholeError("store_busy", "releasing leases failed: another transaction holds some of the work.");
    },
    async recover(now) {
      const result = await opening.use((open) => recover(open, now));
      raiseSkew(clock, alarm);
      return result;
    },
    glance: (request) =>
      work("looking for work", async (sql, lock) => {
        const { serverTime, ...found } = await glance(sql, lock, request);
        // After this machine was suspended, or was without the server, its own leases are among those to be looked for.
        return { ...found, orphans: clock.hasStoodStill(serverTime) || !lock.mayExpire || found.orphans };
      }),
    prune: (limits) => change("pruning", () => pruneBatch(limits, reached)),
    ...commandsOf(access),
    openOperator: (now) =>
      operateInPool(place, { read, write, now: () => now() + clock.aheadMs, elapsed: () => clock.elapsed }),
  };
  return withDatabaseTimes(store, clock);
}

/** Runs begin, steps are kept and calls are made without a wait for the pool, which handlers use. */
function commandsOf({ work, leasing, read, write, query, change }: ReturnType<typeof accessTo>) {
  return {
    beginNewest: (lease, of, now) =>
      work("beginning work", (sql) => sql.transaction(() => sql.perform(beginNewest({ lease, of, now })))),
    restartWaits: (limits) =>
      restartAll((after) =>
        work("restarting waits", (sql) => sql.transaction(() => sql.perform(restartPage({ ...limits, after })))),
      ),
    reserveRuns: (request) => work("reserving runs", (sql) => sql.perform(reserveRuns(request))),
    loadSteps: (of) => work("reading steps", (sql) => sql.perform(loadSteps(of))),
    saveStep: (lease, name, value, at) =>
      work("keeping a step", (sql) => sql.perform(saveStep({ lease, name, value, at }))),
    listStuck: (given) => query("listing events", () => listStuck(given)),
    replan: (plan) => change("planning an event", () => replanEvent(plan)),
    keepPolicies: (policies) => change("keeping retry policies", () => writePolicies(policies)),
    listPaused: () => query("listing paused handlers", () => listPaused()),
    writeFigures: (given) => write("writing figures", (sql, lock) => writeFigures(sql, lock, given)),
    readDiskUse: () => read("reading sizes of tables", readTableSizes),
    noteTimes: (times) => change("noting times", () => noteTimes(times)),
    maySend: () => leasing("choosing a sender", maySend),
    leaseSend: (request) => leasing("leasing a call", (sql, holder) => leaseSend(sql, holder, request)),
    settleSend: (settlement) =>
      work("settling a call", (sql) => sql.transaction(() => sql.perform(settleCall(settlement)))),
    record: (event, now) =>
      write("recording a contact event", async (sql) => {
        const result = await sql.perform(recordContactEvent({ event, now }));
        // Nothing was written, while what is known already may not be on the standby yet: the commit waits until it is.
        if (result !== "recorded") await sql.run("SELECT pg_logical_emit_message(true, 'pigeonhole', '')");
        return result;
      }),
  } satisfies Partial<SharedStore>;
}

/** Clocks that differ by more let leases end at other times than a person expects; they are compared all the same. */
const TOLERATED_SKEW_MS = 5 * SECOND;

function raiseSkew({ aheadMs }: DatabaseClock, alarm: StoreContext["onAlarm"]): void {
  if (Math.abs(aheadMs) > TOLERATED_SKEW_MS)
    alarm?.({ kind: "clock_skew", skewSeconds: Math.round(-aheadMs / SECOND) });
}

/** Every process that has the store open may have work. */
async function recover(open: OpenPostgres, now: number): Promise<RecoverResult> {
  await open.hold();
  const freed = await open.work("recovering work", (sql) => recoverWork(sql, open.lock, now));
  return { owner: true, ...freed };
}

/** What may not wait for handlers runs on the store's own connection; the rest on one of the pool. */
function accessTo(opening: PostgresOpening) {
  type Use<Value> = (sql: Sql, lock: ProcessLock) => Promise<Value>;
  const read = <Value>(doing: string, use: Use<Value>, withinMs?: number): Promise<Value> =>
    opening.use((open) => open.inPool(doing, (sql) => use(sql, open.lock), withinMs));
  const write = <Value>(doing: string, use: Use<Value>, withinMs?: number): Promise<Value> =>
    read(
      doing,
      (sql, lock) =>
        sql.transaction(async () => {
          // Rows are locked for as long as a ctx.commit runs; a person who waits for one is told so.
          await sql.script("SET LOCAL lock_timeout = '3s'");
          return use(sql, lock);
        }),
      withinMs,
    );
  return {
    read,
    write,
    /** Runs a query that reads. */
    query: <Value>(doing: string, query: () => StoreQuery<Value>): Promise<Value> =>
      read(doing, (sql) => sql.perform(query())),
    /** Runs a query that writes, in one transaction. */
    change: <Value>(doing: string, query: () => StoreQuery<Value>): Promise<Value> =>
      write(doing, (sql) => sql.perform(query())),
    work: <Value>(doing: string, use: Use<Value>): Promise<Value> =>
      opening.use((open) => open.work(doing, (sql) => use(sql, open.lock))),
    leasing: <Value>(doing: string, use: Leasing<Value>): Promise<Value> =>
      opening.use(async (open) => {
        await open.begin();
        return open.lease(doing, use);
      }),
  };
}

function placeOf(options: Resolved<typeof POSTGRES_STORE_OPTIONS>): PostgresPlace {
  const { pool, connectionString, ...place } = options;
  const given = pool ?? connectionString;
  if (given !== undefined && (pool === undefined || connectionString === undefined)) return { pool: given, ...place };
  throw new PigeonholeError("invalid_option", "createPostgresStore takes either pool or connectionString.");
}

/** Another copy of the package has another class. */
function checkPool(option: string, pool: Pool | undefined): Pool | undefined {
  if (pool === undefined || (typeof pool?.connect === "function" && typeof pool.options === "object")) return pool;
  throw new PigeonholeError("invalid_option", `${option} must be a Pool of the package pg.`);
}

function checkSchemaName(option: string, schema: string): string {
  if (isSchemaName(schema)) return schema;
  throw new PigeonholeError("invalid_option", `${option} must ${SCHEMA_NAME_RULE}.`);
}
