import { drizzle } from "drizzle-orm/node-postgres";
import { sql } from "drizzle-orm";
import { Kysely, PostgresDialect } from "kysely";
import { Pool, type PoolClient, type PoolConfig } from "pg";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { endsTransaction, type PostgresTransaction } from "#pigeonhole/store/postgres/call-with-client.js";
import { startPostgresRelay } from "../../support/postgres-relay.js";
import { describeOnPostgres } from "../../support/postgres-server.js";
import { T, settlements, expectCode } from "../conformance/new-event.js";
import { acceptLeased, statesOf } from "../conformance/lease-page.js";
import { openStore } from "./store-on.js";

test.each([
  "BEGIN",
  "begin work",
  "START TRANSACTION",
  "COMMIT",
  " commit and chain",
  "END",
  "ABORT",
  "ROLLBACK",
  "ROLLBACK WORK",
  "PREPARE TRANSACTION 'x'",
  "COMMIT PREPARED 'x'",
  "SELECT 1; COMMIT",
  "SELECT ';'; /* c */ ROLLBACK -- no",
  "-- first\nCOMMIT",
  "SELECT E'\\''; COMMIT; SELECT ''",
  "SELECT $$ a $$; COMMIT",
])("SQL that ends a transaction is found: %j", (text) => {
  expect(endsTransaction(text)).toBe(true);
});

test.each([
  "SELECT 1",
  "SAVEPOINT a",
  "ROLLBACK TO a",
  "ROLLBACK TRANSACTION TO SAVEPOINT a",
  "RELEASE a",
  "INSERT INTO commit VALUES ('; COMMIT')",
  'SELECT "; COMMIT"',
  "SELECT $$; COMMIT $$",
  "SELECT $tag$; $$ COMMIT $tag$",
  "/* ; COMMIT */ SELECT 1",
  "SELECT $1, $2",
])("other SQL is not taken for it: %j", (text) => {
  expect(endsTransaction(text)).toBe(false);
});

describeOnPostgres((database) => {
  const table = "public.people";
  beforeAll(async () => {
    await database.pool.query(`CREATE TABLE ${table} (place serial, name text UNIQUE)`);
  });

  const names = async (): Promise<string[]> => {
    const { rows } = await database.pool.query<{ name: string }>(`SELECT name FROM ${table} ORDER BY place`);
    return rows.map(({ name }) => name);
  };
  const add = ({ client }: PostgresTransaction, name: string) =>
    client.query(`INSERT INTO ${table} (name) VALUES ($1)`, [name]);

  /** A store on a pool of its own, with leased work, a run that may be aborted, and no rows of the user. */
  async function openOnPool(config: PoolConfig = {}) {
    await database.pool.query(`TRUNCATE ${table}`);
    const pool = new Pool({ connectionString: database.url, max: 1, ...config });
    pool.on("error", () => undefined);
    onTestFinished(() => pool.end());
    const store = await openStore(database, pool);
    return { pool, store, lease: await acceptLeased(store, "evt_1"), run: new AbortController() };
  }

  /** The same behind a relay. */
  async function openOnRelay() {
    const relay = await startPostgresRelay(database.url);
    return { relay, ...(await openOnPool({ connectionString: relay.url })) };
  }

  test.each(["COMMIT", "ROLLBACK", "BEGIN"])("a commit refuses %s, also if the error is caught", async (text) => {
    const { store, lease } = await openOnPool();
    const outcome = store.commit(settlements.done(lease), async (tx) => {
      await add(tx, "ann");
      try {
        await tx.client.query({ text });
      } catch {
        // Goes on as if nothing had been.
      }
    });
    await expectCode(outcome, "transaction_ended");
    expect(await names()).toEqual([]);
    expect(await statesOf(store, "evt_1")).toEqual({ h: "running" });
  });

  test("a commit rejects with the error of the user's statement, and gives the client back", async () => {
    const { pool, store, lease } = await openOnPool();
    const outcome = store.commit(settlements.done(lease), async (tx) => {
      await add(tx, "ann");
      await add(tx, "ann");
    });
    await expect(outcome).rejects.toMatchObject({ code: "23505" });
    expect([pool.totalCount, pool.idleCount]).toEqual([1, 1]);
  });

  test("a commit takes the client of Drizzle", async () => {
    const { store, lease } = await openOnPool();
    await store.commit(settlements.done(lease), ({ client }) =>
      drizzle({ client }).execute(sql`INSERT INTO ${sql.raw(table)} (name) VALUES (${"ann"})`),
    );
    expect(await names()).toEqual(["ann"]);
  });

  test("a commit takes the client as the one connection of Kysely", async () => {
    const { store, lease: first } = await openOnPool();
    const second = await acceptLeased(store, "evt_2");
    const open = (client: PoolClient) =>
      new Kysely<Record<string, { name: string }>>({
        dialect: new PostgresDialect({
          pool: { connect: () => Promise.resolve(client), end: () => Promise.resolve(), options: {} },
        }),
      });
    await store.commit(settlements.done(first), ({ client }) =>
      open(client).insertInto(table).values({ name: "ann" }).execute(),
    );
    const failure = new Error("taken back");
    const outcome = store.commit(settlements.done(second), async ({ client }) => {
      await open(client).insertInto(table).values({ name: "bob" }).execute();
      throw failure;
    });
    await expect(outcome).rejects.toBe(failure);
    expect(await names()).toEqual(["ann"]);
  });

  test("a commit waits for the server twice beside what its function does", async () => {
    const { pool, store, lease } = await openOnPool();
    let queries = 0;
    const client = await pool.connect();
    const query: unknown = Reflect.get(client, "query");
    Reflect.set(client, "query", (...args: unknown[]): unknown => {
      queries += 1;
      return Reflect.apply(query as () => unknown, client, args);
    });
    client.release();
    await store.commit(settlements.done(lease), (tx) => add(tx, "ann"));
    expect(queries).toBe(3);
    expect(await names()).toEqual(["ann"]);
  });

  const show = "SHOW idle_in_transaction_session_timeout";

  test.each([
    ["", "1min", "0"],
    ["-c idle_in_transaction_session_timeout=7s", "7s", "7s"],
    ["-c idle_in_transaction_session_timeout=2h", "1min", "2h"],
  ])(
    "a commit may be idle for a minute at most, with the options %j of the connection",
    async (options, during, after) => {
      const { pool, store, lease } = await openOnPool({ options });
      const limits: unknown[] = [];
      await store.commit(settlements.done(lease), async ({ client }) => {
        limits.push(...(await client.query(show)).rows);
        await client.query("SET LOCAL idle_in_transaction_session_timeout = '5min'");
        limits.push(...(await client.query(show)).rows);
      });
      limits.push(...(await pool.query(show)).rows);
      expect(limits).toEqual([during, "5min", after].map((limit) => ({ idle_in_transaction_session_timeout: limit })));
    },
  );

  test.each([
    ["goes on", (tx: PostgresTransaction) => add(tx, "bob")],
    ["catches the driver's error", (tx: PostgresTransaction) => add(tx, "bob").catch(() => undefined)],
    ["returns", () => Promise.resolve()],
  ])("a commit that the server ended for that is refused as such when its function %s", async (_, goOn) => {
    const { store, lease } = await openOnPool({ options: "-c idle_in_transaction_session_timeout=100ms" });
    const outcome = store.commit(settlements.done(lease), async (tx) => {
      const { rows } = await tx.client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
      const isThere = () => database.pool.query("SELECT 1 FROM pg_stat_activity WHERE pid = $1", [rows[0]?.pid]);
      await expect.poll(async () => (await isThere()).rowCount).toBe(0);
      await goOn(tx);
    });
    await expect(outcome).rejects.toMatchObject({
      code: "transaction_ended",
      message: expect.stringContaining("Do what takes long before ctx.commit") as string,
    });
    expect(await names()).toEqual([]);
  });

  const hangs = new Promise<never>(() => undefined);

  test("a commit whose function hangs ends with its run, writes nothing and holds no row", async () => {
    const { pool, store, lease, run } = await openOnPool();
    let kept: PostgresTransaction["client"] | undefined;
    const outcome = store.commit(
      settlements.done(lease),
      async (tx) => {
        kept = tx.client;
        await add(tx, "ann");
        run.abort(new Error("too late"));
        await hangs;
      },
      run.signal,
    );
    await expect(outcome).rejects.toThrow("too late");
    expect(() => kept?.query("SELECT 1")).toThrow(expect.objectContaining({ code: "transaction_closed" }));
    expect(pool.totalCount).toBe(0);
    await expect.poll(() => store.settle(settlements.done(lease)).catch(() => undefined)).toBe("settled");
    expect(await names()).toEqual([]);
  });

  test("a commit that waits for a connection ends with its run, and the connection goes back", async () => {
    const { pool, store, lease, run } = await openOnPool();
    const client = await pool.connect();
    const outcome = store.commit(settlements.done(lease), () => expect.unreachable(), run.signal);
    run.abort(new Error("too late"));
    await expect(outcome).rejects.toThrow("too late");
    client.release();
    await expect.poll(() => pool.idleCount).toBe(1);
    expect(await statesOf(store, "evt_1")).toEqual({ h: "running" });
  });

  test.each<[string, { hasLimit: boolean; throws: boolean; code?: string }]>([
    ["that undoes its writes", { hasLimit: true, throws: true }],
    ["that undoes its writes, without a time limit too,", { hasLimit: false, throws: true }],
    ["whose COMMIT is not answered", { hasLimit: true, throws: false, code: "store_unreachable" }],
  ])("a commit %s ends on a silent connection", async (_, { hasLimit, throws, code }) => {
    const { relay, pool, store, lease, run } = await openOnRelay();
    const fn = (): void => {
      relay.fault = { at: "silence" };
      if (hasLimit) setTimeout(() => run.abort(), 50);
      if (throws) throw new Error("mine");
    };
    const outcome = store.commit(settlements.done(lease), fn, hasLimit ? run.signal : undefined);
    await expect(outcome).rejects.toMatchObject(throws ? { message: "mine" } : { code });
    expect(pool.totalCount).toBe(0);
    relay.fault = undefined;
    relay.cut();
  });

  test("a commit whose run was over before is refused", async () => {
    const { store, lease, run } = await openOnPool();
    run.abort(new Error("too late"));
    const outcome = store.commit(settlements.done(lease), () => expect.unreachable(), run.signal);
    await expect(outcome).rejects.toThrow("too late");
  });

  test.each([
    ["arrived", true],
    ["did not arrive", false],
  ])("a commit without an answer is done or runs again, when it %s", async (_, arrives) => {
    const { relay, store, lease } = await openOnRelay();
    const outcome = store.commit(settlements.done(lease), async (tx) => {
      await add(tx, "ann");
      if (arrives) relay.fault = { at: "answer", to: /COMMIT/ };
      else relay.statementsLeft = 0;
    });
    await expectCode(outcome, "store_unreachable");
    Object.assign(relay, { fault: undefined, statementsLeft: Infinity });
    await expect.poll(() => store.release([lease], T).catch(() => "held")).toBeUndefined();
    expect(await names()).toEqual(arrives ? ["ann"] : []);
    expect(await statesOf(store, "evt_1")).toEqual({ h: arrives ? "done" : "pending" });
  });

  test("a commit whose connection ends under its function says so, whatever the function throws", async () => {
    const { store, lease } = await openOnPool();
    const end = ({ client }: PostgresTransaction) => client.query("SELECT pg_terminate_backend(pg_backend_pid())");
    await expectCode(store.commit(settlements.done(lease), end), "store_unreachable");
    const another = store.commit(settlements.done(lease), async (tx) => {
      await end(tx).catch((cause: unknown) => {
        throw new Error("mine", { cause });
      });
    });
    await expectCode(another, "store_unreachable");
    expect(await statesOf(store, "evt_1")).toEqual({ h: "running" });
  });
});
