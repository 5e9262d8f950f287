import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, expectTypeOf, onTestFinished, test } from "vitest";
import {
  type CommitTransaction,
  type Receiver,
  type SqliteStore,
  type SqliteStoreOptions,
  createSqliteStore,
} from "pigeonhole";
import { createTestReceiver, deliver, sampleEvent } from "pigeonhole/testing";
import { errorOf } from "../support/error-of.js";
import { makeFolder } from "../support/folder.js";

type Setup = NonNullable<SqliteStoreOptions["setup"]>;

const makeBounces: Setup = ({ db }) => db.exec("CREATE TABLE IF NOT EXISTS bounces (event TEXT)");
const IN_MEMORY = ":memory:";
const KINDS: [string, () => string][] = [
  ["a file", () => join(makeFolder(), "inbox.db")],
  ["memory", () => IN_MEMORY],
];

function makeStore(file: string, setup?: Setup): { store: SqliteStore; receiver: Receiver } {
  const store = createSqliteStore({ file, setup, thread: false });
  const receiver = createTestReceiver({ store });
  onTestFinished(() => receiver.stop({ timeoutMs: 0 }));
  return { store, receiver };
}

const readBounces = (store: SqliteStore): unknown =>
  store.read(({ db }) => db.prepare("SELECT event FROM bounces").pluck().all());

const tableNames = (store: SqliteStore): unknown =>
  store.read(({ db }) => db.prepare("SELECT name FROM sqlite_schema WHERE name NOT LIKE 'inbox%'").pluck().all());

test.each([
  "CREATE TABLE IF NOT EXISTS inbox_people (id TEXT)",
  "ALTER TABLE inbox_people ADD COLUMN name TEXT",
  "ALTER TABLE inbox_people RENAME TO people",
  "DROP TABLE inbox_people",
])("an own table from before under a name like the store's may stay, change and go: %s", async (sql) => {
  const file = join(makeFolder(), "inbox.db");
  const first = makeStore(file);
  await first.receiver.start();
  await first.receiver.stop();
  const db = new Database(file);
  db.exec("CREATE TABLE inbox_people (id TEXT)");
  db.close();
  const { receiver } = makeStore(file, ({ db: own }) => own.exec(sql));
  await receiver.start();
});

describe.each(KINDS)("own tables in %s", (_, makeFile) => {
  test("the tables of setup are there for the first handler, and read shows what it wrote", async () => {
    const { store, receiver } = makeStore(makeFile(), makeBounces);
    receiver.on("email.bounced", (event, ctx) =>
      ctx.commit(({ db }) => void db.prepare("INSERT INTO bounces VALUES (?)").run(event.id)),
    );
    const event = sampleEvent("email.bounced");
    const { handlers } = await deliver(receiver, event);
    expect(handlers.map(({ state }) => state)).toEqual(["done"]);
    expect(readBounces(store)).toEqual([event.id]);
  });

  test("a setup that throws makes start reject with the same error, and writes nothing", async () => {
    const file = makeFile();
    const wrong = new TypeError("no such column in my plan");
    const failing: Setup = (tx) => {
      makeBounces(tx);
      throw wrong;
    };
    await expect(makeStore(file, failing).receiver.start()).rejects.toBe(wrong);
    const { store, receiver } = makeStore(file);
    await receiver.start();
    expect(tableNames(store)).not.toContain("bounces");
  });

  test("a setup whose SQL is wrong makes start reject with SQLite's message", async () => {
    const { receiver } = makeStore(makeFile(), ({ db }) => db.exec("CREATE TABL bounces (event TEXT)"));
    await expect(receiver.start()).rejects.toThrow(/^setup failed: SQLITE_ERROR \(near "TABL": syntax error\)/);
  });

  test.each([
    ["COMMIT", "transaction_ended"],
    ["ROLLBACK", "transaction_ended"],
    ["PRAGMA synchronous = OFF", "invalid_argument"],
    ["PRAGMA foreign_keys=OFF", "invalid_argument"],
    ['PRAGMA main."query_only" = 1', "invalid_argument"],
    ["SELECT 1; /* quietly */ pragma/**/query_only(1)", "invalid_argument"],
    ["ROLLBACK; INSERT INTO bounces VALUES ('outside')", "transaction_ended"],
    ["-- first\nBEGIN", "transaction_ended"],
  ])("a setup with the SQL %s is refused, and writes nothing", async (sql, code) => {
    const file = makeFile();
    const { receiver } = makeStore(file, ({ db }) => {
      db.exec("CREATE TABLE bounces (event TEXT)");
      db.exec(sql);
    });
    expect(await errorOf(() => receiver.start())).toMatchObject({ code });
    const next = makeStore(file, makeBounces);
    await next.receiver.start();
    expect(readBounces(next.store)).toEqual([]);
  });

  test.each([
    ["CREATE TABLE inbox_people (id TEXT)", 'setup made "inbox_people", a name of the store: '],
    ["CREATE INDEX Outbox_by_event ON bounces (event)", 'setup made "Outbox_by_event", a name of the store: '],
    ["ALTER TABLE inbox_event ADD COLUMN mine TEXT", 'setup changed or removed "inbox_event" of the store: '],
    ["ALTER TABLE inbox_counter ADD COLUMN mine TEXT", 'setup changed or removed "inbox_counter" of the store: '],
    ["DROP INDEX outbox_event_pending", 'setup changed or removed "outbox_event_pending" of the store: '],
  ])("a setup with %s, which is the store's name, is refused, and writes nothing", async (sql, message) => {
    const file = makeFile();
    const { receiver } = makeStore(file, (tx) => {
      makeBounces(tx);
      tx.db.exec(sql);
    });
    const error = await errorOf(() => receiver.start());
    expect(error).toMatchObject({ code: "invalid_argument", message: expect.stringContaining(message) as string });
    const next = makeStore(file);
    await next.receiver.start();
    expect(tableNames(next.store)).not.toContain("bounces");
  });

  test("a setup may make triggers, savepoints and texts with words of transactions in them, and read pragmas", async () => {
    const { store, receiver } = makeStore(makeFile(), ({ db }) => {
      db.exec(`CREATE TABLE bounces (event TEXT); CREATE TABLE log (what TEXT);
        CREATE TRIGGER note AFTER INSERT ON bounces BEGIN
          INSERT INTO log VALUES (CASE WHEN new.event IS NULL THEN 'none' ELSE 'begin; commit' END);
        END;
        SAVEPOINT part; INSERT INTO bounces VALUES ('undone'); ROLLBACK TO part; RELEASE part;
        INSERT INTO bounces VALUES ('kept; rollback'); -- commit`);
      expect(db.pragma("table_info(bounces)")).toHaveLength(1);
    });
    await receiver.start();
    expect(readBounces(store)).toEqual(["kept; rollback"]);
    expect(store.read(({ db }) => db.prepare("SELECT what FROM log").pluck().all())).toEqual(["begin; commit"]);
  });

  test.each([
    ["rows", ({ db }: CommitTransaction) => db.prepare("SELECT 1").all()],
    ["the number of a pragma", ({ db }: CommitTransaction) => db.pragma("user_version", { simple: true })],
    ["the rows of a pragma", ({ db }: CommitTransaction) => db.pragma("table_info(bounces)")],
    ["the database", ({ db }: CommitTransaction) => db],
    ["null", () => null],
  ])("a setup may return what its last call returns: %s", async (_, setup) => {
    const { store, receiver } = makeStore(makeFile(), setup as Setup);
    await receiver.start();
    expect(tableNames(store)).toEqual(expect.any(Array));
  });

  test("a setup that marks the file as its own is told where to keep the version of its tables", async () => {
    const { receiver } = makeStore(makeFile(), ({ db }) => db.exec("PRAGMA user_version = 2"));
    await expect(receiver.start()).rejects.toThrow(
      "PRAGMA user_version is not allowed in setup: it is the inbox's own mark in the file. Keep the version of your tables in a table of yours.",
    );
  });

  test("a setup that is a generator does not compile, and is refused when it runs", async () => {
    const generator = function* ({ db }: CommitTransaction): Generator<unknown> {
      yield db.exec("CREATE TABLE bounces (event TEXT)");
    };
    // @ts-expect-error -- it would not run
    const store = createSqliteStore({ file: makeFile(), setup: generator, thread: false });
    expect(await errorOf(() => createTestReceiver({ store }).start())).toMatchObject({ code: "commit_async" });
  });

  test("a setup that returns a promise does not compile, and is refused when it runs", async () => {
    // @ts-expect-error -- what comes after its first await would be outside the transaction
    const { receiver } = makeStore(makeFile(), async (tx) => makeBounces(tx));
    expect(await errorOf(() => receiver.start())).toMatchObject({ code: "commit_async" });
  });

  test("read returns what its function returns, and refuses writes", async () => {
    const { store, receiver } = makeStore(makeFile(), makeBounces);
    await receiver.start();
    expectTypeOf(store.read(() => 1)).toEqualTypeOf<number>();
    expect(() => store.read(({ db }) => db.exec("INSERT INTO bounces VALUES ('x')"))).toThrow(/readonly database/);
    expect((await deliver(receiver, sampleEvent("email.bounced"))).status).toBe(200);
    expect(readBounces(store)).toEqual([]);
  });

  test("a read inside another one does not let that one write", async () => {
    const { store, receiver } = makeStore(makeFile(), makeBounces);
    await receiver.start();
    const write = (): unknown =>
      store.read(({ db }) => {
        readBounces(store);
        return db.exec("INSERT INTO bounces VALUES ('x')");
      });
    expect(write).toThrow(/readonly database/);
  });

  test("a query that is returned and would start at its then is refused, and not started", async () => {
    const { store, receiver } = makeStore(makeFile(), makeBounces);
    await receiver.start();
    let started = 0;
    // oxlint-disable-next-line no-thenable -- as the queries of query builders are
    const lazy = { then: () => void (started += 1) } as unknown as number;
    expect(await errorOf(() => store.read(() => lazy))).toMatchObject({ code: "commit_async" });
    await new Promise((resolve) => setImmediate(resolve));
    expect(started).toBe(0);
  });

  test("the database of read is revoked when its function returns", async () => {
    const { store, receiver } = makeStore(makeFile(), makeBounces);
    await receiver.start();
    const kept = store.read(({ db }) => [db]);
    expect(() => kept[0]?.prepare("SELECT 1")).toThrow("tx.db was used after read had ended");
  });

  test("a function of read that returns a promise does not compile, and is refused when it runs", async () => {
    const { store, receiver } = makeStore(makeFile(), makeBounces);
    await receiver.start();
    // @ts-expect-error -- the database is revoked before the promise resolves
    expect(await errorOf(() => store.read(async () => 1))).toMatchObject({ code: "commit_async" });
    // @ts-expect-error -- an iterator reads when it is asked
    const rows = () => store.read(({ db }) => db.prepare("SELECT event FROM bounces").iterate());
    expect(await errorOf(rows)).toMatchObject({ code: "commit_async" });
  });

  test("read before the start and after the stop throws stopped", async () => {
    const { store, receiver } = makeStore(makeFile(), makeBounces);
    expect(() => readBounces(store)).toThrow("The store is not open; start the receiver first");
    await receiver.start();
    await receiver.stop();
    expect(() => readBounces(store)).toThrow("The store is not open; start the receiver first");
  });
});

test("setup runs each time a file is opened, so that a new version can migrate its tables", async () => {
  const file = join(makeFolder(), "inbox.db");
  const first = makeStore(file, makeBounces);
  await first.receiver.start();
  await first.receiver.stop();
  const second = makeStore(file, ({ db }) => {
    const columns = db.prepare("SELECT name FROM pragma_table_info('bounces')").pluck().all();
    if (!columns.includes("at")) db.exec("ALTER TABLE bounces ADD COLUMN at INTEGER");
  });
  await second.receiver.start();
  expect(second.store.read(({ db }) => db.prepare("SELECT event, at FROM bounces").all())).toEqual([]);
});

test("two receivers that start at once on one file run their setups one behind the other", async () => {
  const file = join(makeFolder(), "inbox.db");
  const makeOnce: Setup = ({ db }) => {
    const has = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'bounces'").get();
    if (has === undefined) db.exec("CREATE TABLE bounces (event TEXT)");
  };
  const both = [makeStore(file, makeOnce), makeStore(file, makeOnce)];
  await Promise.all(both.map(({ receiver }) => receiver.start()));
  for (const { store } of both) expect(readBounces(store)).toEqual([]);
});

test("a setup that is not a function is refused when the store is created", () => {
  // @ts-expect-error -- a path to a file of SQL, say
  expect(() => createSqliteStore({ file: IN_MEMORY, setup: "schema.sql" })).toThrow("setup must be a function");
});
