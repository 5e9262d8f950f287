import { setTimeout as sleep } from "node:timers/promises";
import { Client, Pool } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { AbandonedSessions } from "#pigeonhole/store/postgres/abandoned-sessions.js";
import { OwnConnection, SHORT } from "#pigeonhole/store/postgres/own-connection.js";
import { sessionConfig } from "#pigeonhole/store/postgres/open-postgres.js";
import { SharedPool } from "#pigeonhole/store/postgres/shared-pool.js";
import { Sql, Statements } from "#pigeonhole/store/postgres/sql.js";
import { type PostgresStore, createPostgresStore } from "#pigeonhole/store/postgres/postgres-store.js";
import { startPostgresRelay } from "../../support/postgres-relay.js";
import { startTransactionPooler } from "../../support/transaction-pooler.js";
import { describeOnPostgres, startPostgres } from "../../support/postgres-server.js";
import { expectCode, DAY, MINUTE, newEvent, settlements, T, context } from "../conformance/new-event.js";
import { acceptLeased, leasePage, statesOf } from "../conformance/lease-page.js";
import { newRecord } from "../conformance/new-record.js";
import { leaseSend } from "../conformance/outbox-fixture.js";
import { borrowClient, openStore } from "./store-on.js";
import { countWork } from "../../support/operate.js";
import { measureSlowness } from "../../support/slowness.js";

describeOnPostgres((database) => {
  async function pidOf(name: string, pool = database.pool): Promise<unknown> {
    const { rows } = await pool.query<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1",
      [name],
    );
    return rows[0]?.pid;
  }

  describe("behind a pooler in transaction mode", () => {
    const openBehind = async (
      change: { runsHandlers?: boolean; sessionConnectionString?: string },
      given?: string,
    ): Promise<PostgresStore> => {
      const { runsHandlers, ...options } = change;
      const connectionString = given ?? (await startTransactionPooler(database.url));
      const store = createPostgresStore({ connectionString, schema: database.schema, ...options });
      onTestFinished(async () => {
        await store.close();
        await database.pool.query(`DROP SCHEMA IF EXISTS ${database.schema} CASCADE`);
      });
      await store.open({ ...context, runsHandlers });
      return store;
    };

    test("a process that runs handlers is refused behind such a pooler, and told what to give", async () => {
      const outcome = openBehind({});
      await expect(outcome).rejects.toMatchObject({
        code: "server_unusable",
        message: expect.stringContaining("sessionConnectionString"),
      });
    });

    test("a process that only accepts works behind such a pooler, and its events are leased by none", async () => {
      const store = await openBehind({ runsHandlers: false });
      const work = [{ handler: "h", leaseUntil: T + MINUTE }];
      expect(await store.accept(newEvent("evt_1", { work }))).toMatchObject({ kind: "stored", leases: [] });
      expect(await store.accept(newEvent("evt_1"))).toMatchObject({ kind: "duplicate" });
      expect(await statesOf(store, "evt_1")).toEqual({ h: "pending" });
      expect(await pidOf("pigeonhole session")).toBeUndefined();
      await expectCode(store.recover(T), "server_unusable");
    });

    test("what is accepted behind such a pooler is durable on each of its connections, and leaves no setting on them", async () => {
      const { pool, schema } = database;
      const { pathname } = new URL(database.url);
      const setDefault = (sql: string) => pool.query(`ALTER DATABASE ${pathname.slice(1)} ${sql} synchronous_commit`);
      await pool.query(`ALTER DATABASE ${pathname.slice(1)} SET synchronous_commit = off`);
      onTestFinished(async () => void (await setDefault("RESET")));
      const connectionString = await startTransactionPooler(database.url);
      const store = await openBehind({ runsHandlers: false }, connectionString);
      await pool.query(`
        CREATE TABLE ${schema}.seen (id text, setting text);
        CREATE FUNCTION ${schema}.see() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN INSERT INTO ${schema}.seen VALUES (NEW.id, current_setting('synchronous_commit')); RETURN NEW; END $$;
        CREATE TRIGGER see AFTER INSERT ON ${schema}.inbox_event FOR EACH ROW EXECUTE FUNCTION ${schema}.see()`);
      await store.accept(newEvent("evt_1"));
      // Has the connection of the first event to itself.
      const other = new Client({ connectionString });
      onTestFinished(() => other.end());
      await other.connect();
      await other.query("BEGIN");
      await store.accept(newEvent("evt_2"));
      expect((await pool.query(`SELECT id, setting FROM ${schema}.seen`)).rows).toEqual([
        { id: "evt_1", setting: "on" },
        { id: "evt_2", setting: "on" },
      ]);
      expect((await other.query("SHOW statement_timeout")).rows).toEqual([{ statement_timeout: "0" }]);
    });

    test("the other way to the server is encrypted as the pool is, unless its URL says how", () => {
      const ofPool = { host: "pooler", ssl: { ca: "ca" } };
      expect(sessionConfig(ofPool, undefined)).toBe(ofPool);
      const direct = sessionConfig(ofPool, "postgres://app@db.example.com/app");
      expect(new Client(direct)).toMatchObject({ host: "db.example.com", ssl: { ca: "ca" } });
      expect(new Client(sessionConfig(ofPool, "postgres://db.example.com/app?sslmode=disable")).ssl).toBe(false);
    });

    test.each([
      ["verify-full", {}],
      ["no-verify", { rejectUnauthorized: false }],
      ["disable", false],
    ])("the other way to the server is encrypted as the URL of the pool says: %s", (mode, ssl) => {
      const ofPool = { connectionString: `postgres://pooler/app?sslmode=${mode}` };
      const direct = sessionConfig(ofPool, "postgres://app@db.example.com/app");
      expect(new Client(direct)).toMatchObject({ host: "db.example.com", ssl });
    });

    test("of leases that are released behind such a pooler, only that is left which another transaction holds", async () => {
      const store = await openBehind({ sessionConnectionString: database.url });
      await store.recover(T);
      const [held, free] = [await acceptLeased(store, "evt_1"), await acceptLeased(store, "evt_2")];
      const other = await borrowClient(database.pool);
      await other.query(`BEGIN; SELECT FROM ${database.schema}.inbox_work WHERE seq = ${held.seq} FOR UPDATE`);
      await expectCode(store.release([held, free], T), "store_busy");
      await other.query("ROLLBACK");
      expect([await statesOf(store, "evt_1"), await statesOf(store, "evt_2")]).toEqual([
        { h: "running" },
        { h: "pending" },
      ]);
    });

    test("a process with another way to the server runs handlers behind such a pooler", async () => {
      const store = await openBehind({ sessionConnectionString: database.url });
      expect(await store.recover(T)).toEqual({ owner: true, recovered: 0, parked: 0 });
      const lease = await acceptLeased(store, "evt_1");
      await store.commit(settlements.done(lease), ({ client }) => client.query("SELECT 1"));
      expect(await statesOf(store, "evt_1")).toEqual({ h: "done" });
    });
  });

  test("an event that was stored without an answer is not left to a lease that nobody knows", async () => {
    const relay = await startPostgresRelay(database.url);
    const store = await openStore(database, relay.url);
    const running = await acceptLeased(store, "running");
    relay.fault = { at: "answer" };
    const work = [{ handler: "h", leaseUntil: T + DAY }];
    const unanswered = [newEvent("evt_1", { work }), newEvent("running", { receivedAt: T + 1, work })];
    await Promise.all(unanswered.map((event) => expectCode(store.accept(event), "store_unreachable")));
    relay.fault = undefined;
    const observer = await openStore(database);
    await expect.poll(() => statesOf(observer, "evt_1")).toEqual({ h: "pending" });
    expect((await leasePage(store)).work).toMatchObject([{ eventId: "evt_1", attempt: 1, crashes: 0 }]);
    expect(await store.settle(settlements.done(running))).toBe("settled");
  });

  test("work and a call that were leased without an answer are leased again, and no crash is counted", async () => {
    const relay = await startPostgresRelay(database.url);
    const store = await openStore(database, relay.url);
    await store.accept(newEvent("evt_1"));
    await store.record(newRecord("a"), T);
    relay.fault = { at: "answer", to: /SET state = 'leased'/ };
    await expectCode(leasePage(store, { leaseUntil: T + DAY }), "store_unreachable");
    relay.fault = { at: "answer", to: /COMMIT/ };
    await expectCode(leaseSend(store, { leaseUntil: T + DAY }), "store_unreachable");
    relay.fault = undefined;
    const page = () => leasePage(store).catch(() => ({ work: [] }));
    await expect.poll(async () => (await page()).work).toMatchObject([{ eventId: "evt_1", attempt: 1, crashes: 0 }]);
    const send = () => leaseSend(store, { now: Date.now() }).catch(() => undefined);
    await expect.poll(async () => (await send())?.send).toMatchObject({ attempt: 1 });
  });

  test("the server closes a connection of a machine that has been silent for a minute, or for 10 s in a transaction", async () => {
    const config = { connectionString: database.url };
    const [statements, abandoned] = [new Statements("unused"), new AbandonedSessions()];
    const connection = new OwnConnection({ config, name: "test", statements, limits: SHORT, abandoned });
    onTestFinished(() => connection.end());
    const settings = await connection.run("reading settings", (sql) =>
      sql.row<{ idle: number; interval: number; count: number; unsent: number; inTransaction: string }>(`
        SELECT current_setting('tcp_keepalives_idle')::int AS idle,
          current_setting('tcp_keepalives_interval')::int AS interval,
          current_setting('tcp_keepalives_count')::int AS count,
          (SELECT setting::int FROM pg_settings WHERE name = 'tcp_user_timeout') AS unsent,
          current_setting('idle_in_transaction_session_timeout') AS "inTransaction"`),
    );
    const { idle = NaN, interval = NaN, count = NaN, unsent } = settings ?? {};
    expect(idle + interval * count).toBe(60);
    expect(unsent).toBe(60_000);
    expect(settings?.inTransaction).toBe("10s");
  });

  test("a store whose server has fallen silent closes in time, and does not take its lock again", async () => {
    const relay = await startPostgresRelay(database.url);
    const store = await openStore(database, relay.url);
    await store.accept(newEvent("evt_1"));
    await countWork(store, T);
    relay.fault = { at: "silence" };
    const accepted = store.accept(newEvent("evt_2")).catch(({ code }: { code: string }) => code);
    const recovered = store.recover(T).catch(() => undefined);
    const begun = performance.now();
    await store.close();
    // It waits for 5 s for what was begun.
    expect(performance.now() - begun).toBeLessThan(10_000 * measureSlowness());
    expect(await accepted).toBe("store_unreachable");
    relay.fault = undefined;
    relay.cut();
    await recovered;
    // Longer than it waits before it takes its lock again.
    await sleep(500);
    expect(await pidOf("pigeonhole session")).toBeUndefined();
  });

  test("a lost session is taken again also while answers are lost all the time", async () => {
    const relay = await startPostgresRelay(database.url);
    const store = await openStore(database, relay.url);
    relay.fault = { at: "answer", to: /inbox_/ };
    const before = await pidOf("pigeonhole session");
    await database.pool.query("SELECT pg_terminate_backend($1)", [before]);
    await expect.poll(() => pidOf("pigeonhole session"), { interval: 5 }).toBeUndefined();
    const isBack = async (): Promise<boolean> => {
      await Promise.allSettled([store.accept(newEvent(`evt_${performance.now()}`)), leasePage(store)]);
      return (await pidOf("pigeonhole session")) !== undefined;
    };
    await expect.poll(isBack, { interval: 1 }).toBe(true);
  });

  test("connections that a store's own pool could not make in time leave their places to others", async () => {
    const relay = await startPostgresRelay(database.url);
    const store = await openStore(database, relay.url);
    relay.fault = { at: "silence" };
    const counts = Array.from({ length: 10 }, () => expectCode(countWork(store, T), "store_unreachable"));
    await Promise.all(counts);
    relay.fault = undefined;
    expect(await countWork(store, T)).toMatchObject({ pending: 0 });
  });

  describe("a connection that cannot be used", () => {
    test("a connection to a server that takes no writes is replaced, since the server may stay as it is", async () => {
      const server = await startPostgres();
      onTestFinished(() => server.stop());
      const { url } = server;
      const [admin, pool] = [
        new Pool({ connectionString: url }),
        new Pool({ connectionString: url, max: 1, application_name: "of the application" }),
      ];
      for (const each of [admin, pool]) each.on("error", () => undefined);
      onTestFinished(async () => void (await Promise.all([admin.end(), pool.end()])));
      /** What new transactions may do, also on connections that exist. */
      const setReadOnly = async (value: "on" | "off"): Promise<void> => {
        await admin.query("SET default_transaction_read_only = off");
        await admin.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
        await admin.query("SELECT pg_reload_conf()");
      };
      const store = await openStore({ url, pool: admin, schema: database.schema }, pool);
      const lease = await acceptLeased(store, "before");
      await countWork(store, T);
      const pids = () => Promise.all(["pigeonhole accept", "of the application"].map((name) => pidOf(name, admin)));
      const before = await pids();
      await setReadOnly("on");
      const codeOf = (work: Promise<unknown>) => work.catch(({ code }: { code: string }) => code);
      await expect.poll(() => codeOf(store.accept(newEvent(`evt_${performance.now()}`)))).toBe("store_not_primary");
      expect(await codeOf(store.commit(settlements.done(lease), () => undefined))).toBe("store_not_primary");
      await setReadOnly("off");
      await expect.poll(() => store.accept(newEvent("after")).catch(() => undefined)).toBeDefined();
      await expect.poll(() => codeOf(store.commit(settlements.done(lease), () => undefined))).toBeUndefined();
      const after = await pids();
      for (const [index, pid] of before.entries()) expect(after[index]).not.toBe(pid);
    });

    test("the server may end a connection of the store's own pool that is being closed", async () => {
      const shared = new SharedPool(database.url, new AbandonedSessions());
      const { client, giveBack } = await shared.borrow("looking");
      giveBack(false);
      const ended = shared.end();
      expect(() => client.emit("error", new Error("terminating connection"))).not.toThrow();
      await ended;
    });

    test.each(["own", "application"])(
      "the server may end a connection as it greets it, and the process goes on (pool: %s)",
      async (of) => {
        const relay = await startPostgresRelay(database.url);
        const pool = new Pool({ connectionString: relay.url });
        const shared = new SharedPool(of === "own" ? relay.url : pool, new AbandonedSessions());
        onTestFinished(async () => void (await Promise.all([shared.end(), pool.end()])));
        const look = () => shared.run("looking", (client) => client.query("SELECT 1"), AbortSignal.timeout(30_000));
        relay.fault = { at: "greeting" };
        await expectCode(look(), "store_unreachable");
        relay.fault = undefined;
        expect((await look()).rowCount).toBe(1);
      },
    );

    test("a transaction of which a statement failed fails, also if its error is caught", async () => {
      const sql = new Sql(await borrowClient(database.pool), new Statements("unused"));
      const outcome = sql.transaction(() => sql.run("SELECT 1 / 0").catch(() => 0));
      await expectCode(outcome, "store_failed");
      expect(await sql.transaction(() => Promise.resolve("kept"))).toBe("kept");
    });

    test("a transaction that cannot begin on a connection leaves it as good as new", async () => {
      const client = await borrowClient(database.pool);
      await client.query("BEGIN");
      await expect(client.query("SELECT 1 / 0")).rejects.toThrow();
      const sql = new Sql(client, new Statements("unused"));
      await expect(sql.transaction(() => Promise.resolve())).rejects.toMatchObject({ code: "25P02" });
      expect(await sql.row("SELECT 1 AS one")).toEqual({ one: 1 });
    });
  });
});
