import { setTimeout as sleep } from "node:timers/promises";
import { Pool, type PoolClient, type PoolConfig } from "pg";
import { expect } from "vitest";
import type * as postgres from "#pigeonhole/store/postgres/postgres-store.js";
import type { PostgresTransaction } from "#pigeonhole/store/postgres/call-with-client.js";
import { systemClock } from "#pigeonhole/base/clock.js";
import type { AcceptResult, Store, StoreContext } from "#pigeonhole/store/store.js";
import { digestOf } from "#pigeonhole/store/queries/newest.js";
import type { Lease } from "#pigeonhole/store/work.js";
import { TAKEN_OVER_AFTER_MS } from "#pigeonhole/store/work-state.js";
import type { TestDatabase } from "../../support/postgres-server.js";
import { bare, DAY, MINUTE, T, newEvent, settlements, context } from "../conformance/new-event.js";
import { acceptAll, acceptLeased, idsOf, leasePage, statesOf } from "../conformance/lease-page.js";
import { membersOf, newRecord, sendSettlements } from "../conformance/new-record.js";
import { leaseSend, settleAll, takeSend } from "../conformance/outbox-fixture.js";
import { countWork, operate } from "../../support/operate.js";

type PgStore = Store<PostgresTransaction>;

/** Stores of one package on one database, and other connections to it. */
export class PostgresScene {
  readonly database: TestDatabase;
  readonly #kit: Pick<typeof postgres, "createPostgresStore">;
  readonly #opened: { close(): Promise<unknown> }[] = [];

  constructor(database: TestDatabase, kit: Pick<typeof postgres, "createPostgresStore">) {
    this.database = database;
    this.#kit = kit;
  }

  async open(pool: Pool = this.database.pool, change: Partial<StoreContext> = {}): Promise<PgStore> {
    const store = this.#kit.createPostgresStore({ pool, schema: this.database.schema });
    this.#opened.unshift(store);
    await store.open({ ...context, ...change });
    await store.recover(T);
    return store;
  }

  /** In how many milliseconds the one lease ends, by the server's clock. */
  async leaseEndsIn(): Promise<number> {
    const { pool, schema } = this.database;
    const { rows } = await pool.query<{ ms: number }>(
      `SELECT (lease_until - extract(epoch FROM clock_timestamp()) * 1000)::integer AS ms FROM ${schema}.inbox_work
       WHERE state = 'leased'`,
    );
    return rows[0]?.ms ?? NaN;
  }

  /** Lets a process that does not exist have all leases, as after its death. */
  async giveToDeadProcess({ serverStart = "pg_postmaster_start_time()" } = {}): Promise<void> {
    const { pool, schema } = this.database;
    await pool.query(
      `INSERT INTO ${schema}.inbox_process (id, server_start, ended) VALUES (15, ${serverStart}, false)`,
    );
    for (const table of ["inbox_work", "outbox_send"]) {
      await pool.query(`UPDATE ${schema}.${table} SET process = 15 WHERE state = 'leased'`);
    }
  }

  /** As if so many seconds had passed since a process was missed, and since leases were given. */
  async pass(seconds: number): Promise<void> {
    const { pool, schema } = this.database;
    await pool.query(`UPDATE ${schema}.inbox_process SET missing_since = missing_since - make_interval(secs => $1)`, [
      seconds,
    ]);
    await pool.query(`UPDATE ${schema}.inbox_work SET lease_until = lease_until - $1`, [seconds * 1_000]);
  }

  /** Ends connections of stores from the server's side. */
  async cut(name: "session" | "%"): Promise<void> {
    await this.database.pool.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE $1",
      [`pigeonhole ${name}`],
    );
  }

  /** A pool of its own, such as one with one connection, or of a role that does not wait for the disk. */
  pool(options: PoolConfig): Pool {
    const pool = new Pool({ connectionString: this.database.url, ...options });
    this.#opened.unshift({ close: () => pool.end() });
    return pool;
  }

  /** A client in an open transaction. */
  async begin(): Promise<PoolClient> {
    const client = await this.database.pool.connect();
    this.#opened.unshift({ close: () => Promise.resolve(client.release(true)) });
    await client.query("BEGIN");
    return client;
  }

  /** A client whose transaction has locked the work of an event. */
  async lockWork(id: string): Promise<PoolClient> {
    const client = await this.begin();
    const { schema } = this.database;
    await client.query(
      `SELECT 1 FROM ${schema}.inbox_work JOIN ${schema}.inbox_event USING (seq) WHERE id = $1 FOR UPDATE`,
      [id],
    );
    return client;
  }

  /** Inserts an event with this id and the body of the event `copied`. */
  async insertCopy(client: PoolClient, id: string): Promise<void> {
    const table = `${this.database.schema}.inbox_event`;
    const columns = "type, test, received_at, signed_at, body_length, body_crc";
    await client.query(
      `INSERT INTO ${table} (seq, id, ${columns}) SELECT 1000000, $1, ${columns} FROM ${table} WHERE id = 'copied'`,
      [id],
    );
  }

  /** Waits until so many statements of stores wait for a lock. */
  async untilWaiting(statements: number): Promise<void> {
    const count = `SELECT count(*)::int AS waiting FROM pg_stat_activity
      WHERE wait_event_type = 'Lock' AND query LIKE '%${this.database.schema}%'`;
    await expect.poll(async () => (await this.database.pool.query(count)).rows[0]).toEqual({ waiting: statements });
  }

  /** How many processes hold the lock of their number. */
  async locks(): Promise<number> {
    const { rows } = await this.database.pool.query<{ locks: number }>(
      `SELECT count(*)::int AS locks FROM pg_locks JOIN pg_database AS d ON d.oid = database
       WHERE d.datname = current_database() AND locktype = 'advisory' AND mode = 'ExclusiveLock' AND granted`,
    );
    return rows[0]?.locks ?? 0;
  }

  async dispose(): Promise<void> {
    for (const opened of this.#opened) await opened.close().catch(() => undefined);
    await this.database.pool.query(`DROP SCHEMA IF EXISTS ${this.database.schema} CASCADE`);
  }
}

type Run = (scene: PostgresScene) => Promise<void>;

/** The first result after connections were lost. */
async function recoverOnceBack(store: PgStore, now: number): Promise<unknown> {
  for (;;) {
    const result = await store.recover(now).catch(() => undefined);
    if (result !== undefined) return result;
    await sleep(20);
  }
}

/** Work that comes in leased. */
const HANDLERS = ["h", "i"].map((handler) => ({ handler, leaseUntil: T + MINUTE }));

const NONE_RECOVERED = { owner: true, recovered: 0, parked: 0 };

export const POSTGRES_SCENARIOS = {
  "a commit of which a statement failed is refused, also if its error is caught": async (scene) => {
    const store = await scene.open();
    const lease = await acceptLeased(store, "evt_1");
    const fail = ({ client }: PostgresTransaction) => client.query("SELECT 1 / 0").catch(() => undefined);
    await expect(store.commit(settlements.done(lease), fail)).rejects.toMatchObject({ code: "transaction_ended" });
    expect(await statesOf(store, "evt_1")).toEqual({ h: "running" });
    // What may fail is in a savepoint.
    await store.commit(settlements.done(lease), async (tx) => {
      await tx.client.query("SAVEPOINT before");
      await fail(tx);
      await tx.client.query("ROLLBACK TO before");
    });
    expect(await statesOf(store, "evt_1")).toEqual({ h: "done" });
  },
  "nothing is written under a lease that was lost": async (scene) => {
    const store = await scene.open();
    const old = await acceptLeased(store, "evt_1");
    await store.record(newRecord("a"), T);
    const oldCall = await takeSend(store);
    await store.recover(T + DAY);
    const later = { now: T + DAY, leaseUntil: T + 2 * DAY };
    const [work] = (await leasePage(store, later)).work;
    const call = await takeSend(store, later);
    expect(await store.settle(settlements.done(old))).toBe("lost");
    expect(await store.settle(settlements.pending(old, T))).toBe("lost");
    expect(await store.saveStep(old, "step", "1", T)).toBe("lost");
    expect(await store.renew([old], T + 3 * DAY)).toEqual([old]);
    await store.release([old], T);
    expect(await store.settleSend(sendSettlements.pending(oldCall))).toBe("lost");
    expect(await store.settleSend(sendSettlements.settled(oldCall, []))).toBe("lost");
    expect(await store.settleSend(sendSettlements.dead(oldCall))).toBe("lost");
    expect(await store.recover(T + DAY)).toEqual(NONE_RECOVERED);
    expect(await store.settle(settlements.done(work ?? expect.unreachable()))).toBe("settled");
    expect(await store.settleSend(sendSettlements.pending(call))).toBe("settled");
  },
  "a store is durable on a pool whose connections are not": async (scene) => {
    const pool = scene.pool({ options: "-c synchronous_commit=off" });
    const store = await scene.open(pool);
    const lease = await acceptLeased(store, "evt_1");
    const settings: unknown[] = [];
    await store.commit(settlements.done(lease), async ({ client }) => {
      settings.push((await client.query("SHOW synchronous_commit")).rows[0]);
    });
    expect(settings).toEqual([{ synchronous_commit: "on" }]);
    expect((await pool.query("SHOW synchronous_commit")).rows).toEqual([{ synchronous_commit: "off" }]);
  },
  "an open commit holds up nothing, on the only connection of its pool": async (scene) => {
    const store = await scene.open(scene.pool({ max: 1 }));
    const [open, other] = [await acceptLeased(store, "open"), await acceptLeased(store, "other")];
    const lease = await acceptLeased(store, "third");
    await store.commit(settlements.done(open), async () => {
      expect(await store.accept(newEvent("new"))).toMatchObject({ kind: "stored" });
      expect(await store.settle(settlements.done(other))).toBe("settled");
      expect(await store.renew([open, lease], T + 2 * MINUTE)).toEqual([]);
      expect(await store.recover(T + DAY)).toMatchObject({ recovered: 1 });
    });
    expect(await countWork(store, T)).toMatchObject({ done: 2, pending: 2 });
  },
  "a retry by hand that meets a commit does not give its work to the handler again": async (scene) => {
    const store = await scene.open();
    const lease = await acceptLeased(store, "evt_1");
    let retried: Promise<number> | undefined;
    await store.commit(settlements.done(lease), async () => {
      retried = store.replan({ seq: lease.seq, handlers: ["h"], now: T });
      await scene.untilWaiting(1);
    });
    expect(await retried).toBe(0);
    expect(await statesOf(store, "evt_1")).toEqual({ h: "done" });
  },
  "a contact event that becomes visible after later ones were sent is sent too": async (scene) => {
    const store = await scene.open();
    const lease = await acceptLeased(store, "evt_1");
    await store.commit({ ...settlements.done(lease), records: [newRecord("first")] }, async () => {
      await store.record(newRecord("second"), T);
      await settleAll(store, await takeSend(store), "done");
      expect((await leaseSend(store)).send).toBeUndefined();
    });
    expect(membersOf(await takeSend(store))).toEqual(["first"]);
  },
  "an id that another transaction has just stored is compared with what that has stored": async (scene) => {
    const store = await scene.open();
    await store.accept(newEvent("copied"));
    const body = Buffer.from('{"id":"copied"}');
    const client = await scene.begin();
    await scene.insertCopy(client, "evt_1");
    const same = store.accept(newEvent("evt_1", { body }));
    await scene.untilWaiting(1);
    await client.query("COMMIT");
    expect(await same).toEqual({ kind: "duplicate", otherBytes: false });
    const other = await store.accept(newEvent("evt_1", { body: Buffer.from("other") }));
    expect(other).toEqual({ kind: "duplicate", otherBytes: true });
  },
  "an id that another transaction did not store after all is stored": async (scene) => {
    const store = await scene.open();
    await store.accept(newEvent("copied"));
    const client = await scene.begin();
    await scene.insertCopy(client, "evt_1");
    const accepted = store.accept(newEvent("evt_1"));
    await scene.untilWaiting(1);
    await client.query("ROLLBACK");
    expect(await accepted).toMatchObject({ kind: "stored" });
  },
  "an event that waits for a lock is refused alone, and the others of its batch are stored with their leases": async (
    scene,
  ) => {
    const store = await scene.open();
    const parked = { reason: "not_json", detail: "" };
    await store.accept(newEvent("locked", { work: [], parked }));
    await store.accept(newEvent("known"));
    const client = await scene.begin();
    await client.query(`SELECT 1 FROM ${scene.database.schema}.inbox_event WHERE id = 'locked' FOR UPDATE`);
    const work = [{ handler: "h", leaseUntil: T + MINUTE }];
    const results = await Promise.allSettled([
      store.accept(newEvent("new", { work })),
      store.accept(newEvent("locked", { work: [], body: Buffer.from("other") })),
      store.accept(newEvent("known")),
    ]);
    expect(results).toMatchObject([
      { value: { kind: "stored", leases: [{ handler: "h" }] } },
      { reason: { code: "store_busy" } },
      { value: { kind: "duplicate" } },
    ]);
  },
  "a settlement whose row is locked is refused alone": async (scene) => {
    const store = await scene.open();
    const [locked, free, other] = [
      await acceptLeased(store, "locked"),
      await acceptLeased(store, "free"),
      await acceptLeased(store, "other"),
    ];
    const client = await scene.begin();
    await client.query(`SELECT 1 FROM ${scene.database.schema}.inbox_work WHERE seq = $1 FOR UPDATE`, [locked.seq]);
    for (const [settle, rest] of [
      [settlements.done, free],
      [(lease: Lease) => settlements.pending(lease, T + MINUTE), other],
    ] as const) {
      const results = await Promise.allSettled([locked, rest].map((lease) => store.settle(settle(lease))));
      expect(results).toMatchObject([{ reason: { code: "store_busy" } }, { value: "settled" }]);
    }
    const committed = store.commit(settlements.done(locked), () => undefined);
    await client.query("ROLLBACK");
    await committed;
    expect(await store.settle(settlements.done(locked))).toBe("lost");
  },
  "a key is that of one piece of leased work at a time, of all stores": async (scene) => {
    const [first, second] = [await scene.open(), await scene.open()];
    const [a, b, c, d] = [
      await acceptLeased(first, "a"),
      await acceptLeased(second, "b"),
      await acceptLeased(second, "c", { work: [{ handler: "other", leaseUntil: T + MINUTE }] }),
      await acceptLeased(second, "d"),
    ];
    const holdsOne = first.holdKey?.(a, "key");
    expect((await Promise.all([holdsOne, second.holdKey?.(b, "key")])).filter(Boolean)).toHaveLength(1);
    const [holder, waiting] = (await holdsOne) ? [a, b] : [b, a];
    expect(await first.holdKey?.(holder, "key")).toBe(true);
    expect(await second.holdKey?.(waiting, "key")).toBe(false);
    const shown = await operate(second).getEvent(waiting === a ? "a" : "b");
    expect(shown?.handlers).toMatchObject([{ state: "pending", waitsFor: "key" }]);
    expect(await second.holdKey?.(d, "key ")).toBe(true);
    expect(await second.holdKey?.(c, "key")).toBe(true);
    await first.settle(settlements.pending(holder, T + 2 * DAY));
    // Each run with the key would read all work that has it.
    const { pool, schema } = scene.database;
    const { rows } = await pool.query(`SELECT key FROM ${schema}.inbox_work WHERE seq = $1`, [holder.seq]);
    expect(rows).toEqual([{ key: null }]);
    const [next = expect.unreachable()] = (await leasePage(first)).work;
    expect(next).toMatchObject({ seq: waiting.seq, attempt: 1, crashes: 0 });
    expect(await first.holdKey?.(next, "key")).toBe(true);
    await first.recover(T + DAY);
    const { work } = await leasePage(first, { now: T + DAY, leaseUntil: T + 2 * DAY });
    expect(await first.holdKey?.(work[0] ?? expect.unreachable(), "key")).toBe(true);
  },
  "work that is refused its key is leased again when the key is free, some of it at a time": async (scene) => {
    const [first, second] = [await scene.open(), await scene.open()];
    const holder = await acceptLeased(first, "holder");
    await first.holdKey?.(holder, "key");
    await acceptAll(second, ["a", "b", "c", "d", "e"]);
    const { work } = await leasePage(second, { leaseUntil: T + DAY });
    const refused = await Promise.all(work.map(async (lease) => second.holdKey?.(lease, "key")));
    expect(refused).toEqual([false, false, false, false, false]);
    await acceptAll(second, ["other"]);
    expect(await leasePage(second)).toMatchObject({ work: [{ eventId: "other" }], waitsForKey: true });
    expect(await leasePage(second)).toMatchObject({ work: [], nextDueAt: undefined, waitsForKey: true });
    expect((await second.glance?.({ handlers: ["h"], now: T }))?.due).toEqual(["h"]);
    await first.settle(settlements.done(holder));
    // A quarter of the page.
    const freed = await leasePage(second, { limit: 8 });
    expect(freed.work).toMatchObject([{ eventId: "a", attempt: 1 }, { eventId: "b" }]);
    expect(idsOf(await leasePage(first))).toEqual([]);
    for (const lease of freed.work) await second.settle(settlements.done(lease));
    expect(idsOf(await leasePage(first))).toEqual(["c", "d", "e"]);
    expect(await leasePage(first)).toEqual({ work: [], nextDueAt: undefined });
  },
  "a call is another's when its process neither works nor ends, and not while it works": async (scene) => {
    const [store, other] = [await scene.open(), await scene.open()];
    const now = Date.now();
    await store.record(newRecord("a"), T);
    await takeSend(store, { now, leaseUntil: now + DAY });
    const almostOver = `UPDATE ${scene.database.schema}.outbox_send SET lease_until = lease_until - 55000`;
    await scene.database.pool.query(almostOver);
    await store.recover(now);
    await other.recover(now + 30_000);
    expect((await leaseSend(other, { now: now + 30_000 })).send).toBeUndefined();
    await other.recover(now + 3 * MINUTE);
    expect(await takeSend(other, { now: now + 3 * MINUTE })).toMatchObject({ attempt: 2 });
  },
  "a machine that stood still renews its leases by the time of the server": async (scene) => {
    // A suspended machine: neither of its clocks goes on.
    const [now, elapsed] = [Date.now(), performance.now()];
    const clock = { ...systemClock, now: () => now, elapsed: () => elapsed };
    const store = await scene.open(scene.database.pool, { clock });
    const lease = await acceptLeased(store, "evt_1", {
      receivedAt: now,
      work: [{ handler: "h", leaseUntil: now + MINUTE }],
    });
    await store.renew([lease], now + 2_000);
    expect(await scene.leaseEndsIn()).toBeGreaterThan(30_000);
    await sleep(1_500);
    expect(await store.glance?.({ handlers: [], now })).toMatchObject({ orphans: true });
    expect(await store.glance?.({ handlers: [], now })).toMatchObject({ orphans: false });
    await store.renew([lease], now + MINUTE);
    expect(await scene.leaseEndsIn()).toBeGreaterThan(59_500);
  },
  "a key is not given to work whose lease has ended": async (scene) => {
    const store = await scene.open();
    const [ended, next] = [await acceptLeased(store, "ended"), await acceptLeased(store, "next")];
    await store.settle(settlements.pending(ended, T));
    expect(await store.holdKey?.(ended, "key")).toBe(false);
    expect(await store.holdKey?.(next, "key")).toBe(true);
  },
  "a key that another store takes meanwhile, for work leased meanwhile, is not given twice": async (scene) => {
    const [first, second] = [await scene.open(), await scene.open()];
    const { schema } = scene.database;
    const waiting = await acceptLeased(second, "waiting");
    const client = await scene.begin();
    await client.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`"${schema}".h ${digestOf("key")}`]);
    const asked = second.holdKey?.(waiting, "key");
    await scene.untilWaiting(1);
    const { seq } = await acceptLeased(first, "taken");
    const take = `UPDATE ${schema}.inbox_work SET key = $1, key_lease = lease WHERE seq = $2`;
    await client.query(take, [digestOf("key"), seq]);
    await client.query("COMMIT");
    expect(await asked).toBe(false);
  },
  "two batches with the same ids in another order are both stored": async (scene) => {
    const [first, second] = [await scene.open(), await scene.open()];
    await first.accept(newEvent("copied"));
    const client = await scene.begin();
    await scene.insertCopy(client, "m");
    const acceptEach = (store: PgStore, ids: readonly string[]): Promise<AcceptResult[]> =>
      Promise.all(ids.map((id) => store.accept(newEvent(id))));
    // Each has stored its first event when it comes to the one that is not committed yet.
    const batches = [acceptEach(first, ["a", "m", "z"]), acceptEach(second, ["z", "m", "a"])];
    await scene.untilWaiting(2);
    await client.query("COMMIT");
    const kinds = (await Promise.all(batches)).flat().map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "stored")).toHaveLength(2);
  },
  "work that another store is leasing at the moment is passed over": async (scene) => {
    const store = await scene.open();
    await acceptAll(store, ["first", "second"]);
    await scene.lockWork("first");
    expect(idsOf(await leasePage(store, { limit: 1 }))).toEqual(["second"]);
  },
  "a store's leases end with it, and not before": async (scene) => {
    const [first, second] = [await scene.open(), await scene.open()];
    await acceptLeased(first, "evt_1", { work: [{ handler: "h", leaseUntil: T + DAY }] });
    for (let looks = 0; looks < 3; looks += 1) {
      expect(await second.recover(T)).toEqual(NONE_RECOVERED);
      await scene.pass(30);
    }
    await first.close();
    expect(await second.recover(T)).toEqual({ owner: true, recovered: 1, parked: 0 });
  },
  "the leases of a dead process end some seconds after it is missed": async (scene) => {
    const store = await scene.open();
    await acceptLeased(store, "evt_1", { work: [{ handler: "h", leaseUntil: T + DAY }] });
    await scene.giveToDeadProcess();
    expect(await store.recover(T)).toEqual(NONE_RECOVERED);
    await scene.pass(TAKEN_OVER_AFTER_MS / 1_000 - 1);
    expect(await store.recover(T)).toEqual(NONE_RECOVERED);
    await scene.pass(2);
    expect(await store.recover(T)).toEqual({ owner: true, recovered: 1, parked: 0 });
  },
  "after a restart of the server, a process has more time to come back": async (scene) => {
    const store = await scene.open();
    await acceptLeased(store, "evt_1", { work: [{ handler: "h", leaseUntil: T + DAY }] });
    await store.record(newRecord("a"), T);
    const call = await takeSend(store, { leaseUntil: T + DAY });
    await scene.giveToDeadProcess({ serverStart: "pg_postmaster_start_time() - interval '1 day'" });
    // Noted before the restart.
    await scene.database.pool.query(
      `UPDATE ${scene.database.schema}.inbox_process SET missing_since = now() - interval '1 hour', missing_on = server_start
         WHERE id = 15`,
    );
    expect(await store.recover(T)).toEqual(NONE_RECOVERED);
    await scene.pass(15);
    expect(await store.recover(T)).toEqual(NONE_RECOVERED);
    await scene.pass(15);
    expect(await store.recover(T)).toEqual({ owner: true, recovered: 1, parked: 0 });
    expect(await takeSend(store)).toMatchObject({ send: call.send, attempt: 2 });
  },
  "a lost session is taken again at once, and nobody takes its work meanwhile": async (scene) => {
    const [store, other] = [await scene.open(), await scene.open(undefined, { runsHandlers: false })];
    await acceptLeased(store, "evt_1", { work: [{ handler: "h", leaseUntil: T + DAY }] });
    await other.recover(T);
    await scene.cut("session");
    expect(await recoverOnceBack(other, T)).toEqual(NONE_RECOVERED);
    await expect.poll(() => scene.locks()).toBe(2);
    await other.recover(T);
    await scene.pass(30);
    expect(await other.recover(T)).toEqual(NONE_RECOVERED);
  },
  "after an outage, each store keeps its work": async (scene) => {
    const stores = [await scene.open(), await scene.open()];
    for (const [index, store] of stores.entries()) {
      await acceptLeased(store, `evt_${index}`, { work: [{ handler: "h", leaseUntil: Date.now() + MINUTE }] });
    }
    await scene.cut("%");
    await scene.pass(2 * 60);
    for (const store of stores) expect(await recoverOnceBack(store, Date.now())).toEqual(NONE_RECOVERED);
    const third = await scene.open();
    expect(await third.recover(Date.now())).toEqual(NONE_RECOVERED);
  },
  "stores whose clocks differ by 20 minutes take nothing from each other, and lose nothing": async (scene) => {
    const alarms: unknown[] = [];
    const openAt = async (offsetMs: number) => {
      const clock = { ...systemClock, now: () => Date.now() + offsetMs };
      return { clock, store: await scene.open(undefined, { clock, onAlarm: (alarm) => alarms.push(alarm) }) };
    };
    const [ahead, behind] = [await openAt(10 * MINUTE), await openAt(-10 * MINUTE)];
    for (const [{ clock, store }, other] of [
      [ahead, behind],
      [behind, ahead],
    ] as const) {
      const now = clock.now();
      const id = `evt_${now}`;
      const lease = await acceptLeased(store, id, { work: [{ handler: "h", leaseUntil: now + MINUTE }] });
      await other.store.restartWaits({ now: other.clock.now(), leaseUntil: other.clock.now() + MINUTE });
      expect(await other.store.recover(other.clock.now())).toEqual(NONE_RECOVERED);
      // Its wait has just ended.
      await store.settle({ ...settlements.pending(lease, clock.now()), at: clock.now() });
      const due = { now: other.clock.now() + 100, leaseUntil: other.clock.now() + MINUTE };
      const { work } = await leasePage(other.store, due);
      expect(work).toMatchObject([{ eventId: id }]);
      expect(Math.abs((work[0]?.dueAt ?? 0) - other.clock.now())).toBeLessThan(MINUTE);
      const wait = { holds: "handler" as const, began: other.clock.now() };
      const waiting = settlements.pending(bare(work[0] ?? expect.unreachable()), other.clock.now() + DAY);
      await other.store.settle({ ...waiting, at: other.clock.now(), wait });
      const { heldUntil = 0 } = await leasePage(store, { now: clock.now(), leaseUntil: clock.now() + MINUTE });
      expect(Math.abs(heldUntil - clock.now() - DAY)).toBeLessThan(MINUTE);
      const later = clock.now() + 2 * DAY;
      const [again = expect.unreachable()] = (await leasePage(store, { now: later, leaseUntil: later })).work;
      expect(Math.abs((again.waitBegan ?? 0) - clock.now())).toBeLessThan(MINUTE);
      await store.settle({ ...settlements.done(bare(again)), at: clock.now() });
    }
    expect(alarms).toContainEqual({ kind: "clock_skew", skewSeconds: 600 });
    expect(alarms).toContainEqual({ kind: "clock_skew", skewSeconds: -600 });
  },
  "each settlement of a batch leaves a mark, of every handler": async (scene) => {
    const store = await scene.open();
    const stored = [
      await store.accept(newEvent("a", { work: HANDLERS })),
      await store.accept(newEvent("b", { work: HANDLERS })),
    ];
    const leases = stored.flatMap((result) => (result.kind === "stored" ? result.leases : []));
    const results = await Promise.all(leases.map((lease) => store.settle(settlements.done(lease))));
    expect(results).toEqual(["settled", "settled", "settled", "settled"]);
    for (const id of ["a", "b"]) expect(await statesOf(store, id)).toEqual({ h: "done", i: "done" });
  },
  "work of a dead process that is locked at the moment is recovered later": async (scene) => {
    const store = await scene.open();
    await acceptLeased(store, "evt_1", { work: [{ handler: "h", leaseUntil: T + DAY }] });
    await scene.giveToDeadProcess();
    await store.recover(T);
    await scene.pass(TAKEN_OVER_AFTER_MS / 1_000 + 1);
    const client = await scene.begin();
    await client.query(`SELECT 1 FROM ${scene.database.schema}.inbox_work FOR UPDATE`);
    expect(await store.recover(T)).toMatchObject({ recovered: 0 });
    await client.query("ROLLBACK");
    expect(await store.recover(T)).toMatchObject({ recovered: 1 });
  },
} satisfies Record<string, Run>;
