import { inspect } from "node:util";
import Database from "better-sqlite3";
import { Pool } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { createPostgresStore } from "#pigeonhole/store/postgres/postgres-store.js";
import { describeOnPostgres, startPostgres } from "../../support/postgres-server.js";
import { findFreePort } from "../../support/free-port.js";
import { hasPostgres, isSkippedWithout } from "../../support/tools.js";
import { HOUR } from "#pigeonhole/base/duration.js";
import { POSTGRES_MIGRATIONS } from "#pigeonhole/store/postgres/migrations.js";
import { MIGRATIONS, STORE_TABLES } from "#pigeonhole/store/sqlite/migrations.js";
import { writeSchemaSql } from "#pigeonhole/store/schema-sql.js";
import { errorOf } from "../../support/error-of.js";
import { context, expectCode, newEvent, settlements, T } from "../conformance/new-event.js";
import { acceptLeased } from "../conformance/lease-page.js";
import { newRecord } from "../conformance/new-record.js";
import { startPostgresRelay } from "../../support/postgres-relay.js";
import { startChild } from "../children/child.js";
import { openStore } from "./store-on.js";
import { countWork, operate } from "../../support/operate.js";

test.each<[object, string]>([
  [{}, "either pool or connectionString"],
  [{ pool: new Pool(), connectionString: "postgres://localhost" }, "either pool or connectionString"],
  [{ pool: {} }, "pool must be a Pool of the package pg"],
  [{ connectionString: "" }, "connectionString must be a URL"],
  [{ connectionString: "app.db" }, "connectionString must be a URL"],
  [{ connectionString: "postgres://app:pass#word@localhost:x/app" }, "connectionString must be a URL"],
  [{ connectionString: "postgres://localhost", schema: "Mine" }, "schema must be"],
  [{ connectionString: "postgres://localhost", schema: 'a"b' }, "schema must be"],
  [{ connectionString: "postgres://localhost", schema: "1a" }, "schema must be"],
  [{ connectionString: "postgres://localhost", scheme: "a" }, "scheme"],
])("createPostgresStore refuses the options %j", (options, message) => {
  expect(() => createPostgresStore(options)).toThrow(message);
});

test("createPostgresStore does not quote a connection string that it refuses", () => {
  const [connectionString, quoted] = ["postgres://app:secret@db:port/app", /secret|port/];
  expect(() => createPostgresStore({ connectionString })).toThrow(
    expect.objectContaining({ message: expect.not.stringMatching(quoted) as string }),
  );
});

describeOnPostgres((database) => {
  const { schema } = database;

  /** Runs SQL as the administrator, and undoes it after the test. */
  async function setUp(sql: string, undo: string): Promise<void> {
    await database.pool.query(sql);
    onTestFinished(async () => void (await database.pool.query(undo)));
  }

  async function refusalOf(connectionString: string): Promise<{ code: string; message: string }> {
    const store = createPostgresStore({ connectionString, schema });
    const error = await store.open(context).then(
      () => expect.unreachable(),
      (thrown: unknown) => thrown,
    );
    await store.close();
    return error as { code: string; message: string };
  }

  const inDatabase = (name: string): string => {
    const url = new URL(database.url);
    url.pathname = `/${name}`;
    return url.href;
  };

  describe("a user who may not create tables", () => {
    const user = `${schema}_user`;
    const asUser = (): string => database.url.replace("//postgres@", `//${user}@`);
    const makeUser = (): Promise<void> =>
      setUp(`CREATE USER ${user}`, `DROP SCHEMA IF EXISTS ${schema} CASCADE; DROP USER ${user}`);
    const refused = (options: object): Promise<{ code?: string; message: string }> =>
      errorOf(() => openStore(database, asUser(), options));
    const prints = new RegExp(`"npx pigeonhole postgres schema --schema ${schema} --grant <user>"`);

    test("a user who may not create tables is told which command prints the SQL", async () => {
      await makeUser();
      for (const migrate of [true, false]) {
        const { code, message } = await refused({ migrate });
        expect([code, message]).toEqual(["schema_too_old", expect.stringMatching(prints)]);
      }
    });

    test("a user who may not create tables uses those that an administrator has made with the printed SQL", async () => {
      await makeUser();
      await database.pool.query(writeSchemaSql({ schema, from: 0, grantTo: user }));
      const store = await openStore(database, asUser(), { migrate: false });
      const lease = await acceptLeased(store, "evt_1");
      await store.commit(settlements.done(lease), ({ client }) => client.query("SELECT 1"));
      await store.record(newRecord("a"), T);
      await store.noteTimes({ clock: T });
      expect(await countWork(store, T)).toMatchObject({ done: 1 });
      await operate(store).erase({ email: "ann@example.com" });
      const all = T + HOUR;
      while ((await store.prune({ now: all, idsBefore: all, bodiesBefore: all, sentBefore: all, batch: 100 })) > 0)
        continue;
      const { rows } = await database.pool.query(`SELECT seq FROM ${schema}.inbox_event`);
      expect(rows).toEqual([]);
    });

    test("tables of another version are refused without being changed, and brought up to date by an administrator", async () => {
      await makeUser();
      const { pool } = database;
      await pool.query(writeSchemaSql({ schema, from: 0, grantTo: user }));
      await pool.query(`INSERT INTO ${schema}.migration (version) VALUES (999)`);
      expect(await refused({ migrate: false })).toMatchObject({ code: "schema_too_new" });
      await pool.query(`DELETE FROM ${schema}.migration`);
      expect(await refused({ migrate: false })).toMatchObject({
        code: "schema_too_old",
        message: expect.stringContaining(`The schema ${schema} has the older version 0`) as string,
      });
      await pool.query(`DROP SCHEMA ${schema} CASCADE; CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.theirs (a int)`);
      await pool.query(`GRANT USAGE ON SCHEMA ${schema} TO ${user}`);
      expect(await refused({ migrate: false })).toMatchObject({ code: "not_a_pigeonhole_database" });
    });

    test("the printed SQL makes the same tables as the store itself", async () => {
      const other = `${schema}_2`;
      await setUp("SELECT 1", `DROP SCHEMA IF EXISTS ${other} CASCADE`);
      await openStore(database);
      await database.pool.query(writeSchemaSql({ schema: other, from: 0, grantTo: undefined }));
      const describe = async (of: string): Promise<unknown[]> => {
        const { rows } = await database.pool.query(
          `SELECT replace(pg_get_indexdef(i.indexrelid), $1, '') AS found FROM pg_index AS i
             JOIN pg_class AS c ON c.oid = i.indexrelid WHERE c.relnamespace = $1::regnamespace
           UNION ALL SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, collation_name, column_default)
             FROM information_schema.columns WHERE table_schema = $1
           UNION ALL SELECT replace(conrelid::regclass::text || ' ' || pg_get_constraintdef(oid), $1, '')
             FROM pg_constraint WHERE connamespace = $1::regnamespace
           UNION ALL SELECT replace(pg_get_functiondef(oid), $1, '') FROM pg_proc WHERE pronamespace = $1::regnamespace
           UNION ALL SELECT sequence_name::text FROM information_schema.sequences WHERE sequence_schema = $1
           ORDER BY 1`,
          [of],
        );
        return rows;
      };
      const tables = await describe(schema);
      expect(tables.length).toBeGreaterThan(100);
      expect(await describe(other)).toEqual(tables);
      await database.pool.query(
        writeSchemaSql({ schema: other, from: POSTGRES_MIGRATIONS.length, grantTo: undefined }),
      );
    });

    test.each([
      [{ schema: "My-Schema", from: 0 }, "The schema must be"],
      [{ schema: "pigeonhole", from: 999 }, "newer than this version"],
    ])("the SQL of %j is refused", (request, message) => {
      expect(() => writeSchemaSql({ ...request, grantTo: undefined })).toThrow(message);
    });
  });

  test("tables and columns have the names that they have in a file", async () => {
    await openStore(database);
    const { rows } = await database.pool.query<{ name: string }>(
      "SELECT table_name || '.' || column_name AS name FROM information_schema.columns WHERE table_schema = $1",
      [database.schema],
    );
    const file = new Database(":memory:");
    for (const migration of MIGRATIONS) file.exec(migration);
    const inFile = STORE_TABLES.flatMap((table) =>
      file
        .prepare<[string, string], string>("SELECT ? || '.' || name FROM pragma_table_info(?)")
        .pluck()
        .all(table, table),
    );
    expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(inFile));
  });

  test("ten processes that start at once on an empty database all come up, and share the work", async () => {
    await setUp("SELECT 1", `DROP SCHEMA ${schema} CASCADE`);
    const children = Array.from({ length: 10 }, () => startChild("open-postgres-store", database.url, schema));
    const kinds = await Promise.all(children.map((child) => child.line()));
    expect(kinds.toSorted()).toEqual([...Array.from({ length: 9 }, () => "duplicate"), "stored"]);
  });

  test("an opening that ends at any of its statements leaves nothing that keeps the next one from opening", async () => {
    const relay = await startPostgresRelay(database.url);
    let hasOpened = false;
    for (let statements = 0; !hasOpened; statements += 1) {
      expect(statements).toBeLessThan(60);
      relay.statementsLeft = statements;
      const cut = createPostgresStore({ connectionString: relay.url, schema });
      hasOpened = await cut.open(context).then(
        () => true,
        () => false,
      );
      relay.statementsLeft = Infinity;
      await cut.close();
      const next = createPostgresStore({ connectionString: database.url, schema });
      try {
        await next.open(context);
        expect(await next.accept(newEvent("evt_1"))).toMatchObject({ kind: "stored" });
      } finally {
        await next.close();
        await database.pool.query(`DROP SCHEMA ${schema} CASCADE`);
      }
    }
  });

  test("a store does not care about the search path, the durability and the isolation of its role", async () => {
    const settings = "-c search_path=nowhere -c synchronous_commit=off -c default_transaction_isolation=serializable";
    const pool = new Pool({ connectionString: database.url, options: settings });
    onTestFinished(() => pool.end());
    const store = await openStore(database, pool);
    const copies = await Promise.all(Array.from({ length: 20 }, () => store.accept(newEvent("evt_1"))));
    expect(copies.filter(({ kind }) => kind === "stored")).toHaveLength(1);
    const { rows } = await database.pool.query(
      "SELECT count(*) AS connections FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pigeonhole %'",
    );
    expect(rows).toEqual([{ connections: "3" }]);
  });

  test("two schemas of a database are two stores", async () => {
    const first = await openStore(database);
    const second = await openStore(database, database.pool, { schema: `${schema}_2` });
    await first.accept(newEvent("evt_1"));
    expect(await second.accept(newEvent("evt_1"))).toMatchObject({ kind: "stored" });
    expect(await second.recover(T)).toMatchObject({ recovered: 0 });
  });

  test.each(["user", "select", "public_1"])("a schema may be called %s", async (name) => {
    const store = await openStore(database, database.pool, { schema: name });
    await store.accept(newEvent("evt_1"));
    await store.record(newRecord("a"), T);
    expect(await operate(store).listEvents({})).toMatchObject({ items: [{ id: "evt_1" }] });
  });

  test("a store that was closed can be opened again, and knows what it had", async () => {
    const store = await openStore(database);
    await store.accept(newEvent("evt_1"));
    await store.close();
    await store.open(context);
    expect(await store.accept(newEvent("evt_1"))).toMatchObject({ kind: "duplicate" });
  });

  test("a schema with tables of another program is refused, and left as it is", async () => {
    await setUp(`CREATE SCHEMA ${schema} CREATE TABLE users (id int)`, `DROP SCHEMA ${schema} CASCADE`);
    expect(await refusalOf(database.url)).toMatchObject({ code: "not_a_pigeonhole_database" });
    const { rows } = await database.pool.query("SELECT tablename FROM pg_tables WHERE schemaname = $1", [schema]);
    expect(rows).toEqual([{ tablename: "users" }]);
  });

  test("a database with another encoding is refused", async () => {
    await setUp("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0", "DROP DATABASE latin WITH (FORCE)");
    expect(await refusalOf(inDatabase("latin"))).toMatchObject({
      code: "server_unusable",
      message: expect.stringContaining("LATIN1"),
    });
  });

  test("a server that takes no writes is refused", async () => {
    await setUp("CREATE DATABASE standing", "DROP DATABASE standing WITH (FORCE)");
    await database.pool.query("ALTER DATABASE standing SET default_transaction_read_only = on");
    expect(await refusalOf(inDatabase("standing"))).toMatchObject({ code: "store_not_primary" });
  });

  test("a user without the right to make the schema is told so, and the schema may be made beforehand", async () => {
    const role = `${schema}_role`;
    await setUp(`CREATE ROLE ${role} LOGIN PASSWORD 'hidden'`, `DROP ROLE ${role}`);
    const url = new URL(database.url);
    [url.username, url.password] = [role, "hidden"];
    const refusal = await refusalOf(url.href);
    expect(refusal).toMatchObject({ code: "schema_too_old", message: expect.stringContaining("may not make") });
    await database.pool.query(`CREATE SCHEMA ${schema} AUTHORIZATION ${role}`);
    await openStore(database, url.href);
  });

  test("a server that does not answer is unreachable, and no error has the password", async () => {
    const port = await findFreePort();
    const refusal = await refusalOf(`postgres://app:hidden@127.0.0.1:${port}/app`);
    expect(refusal).toMatchObject({ code: "store_unreachable", message: expect.stringContaining("ECONNREFUSED") });
    expect(inspect(refusal, { depth: 9, showHidden: true })).not.toContain("hidden");
  });

  test("a password that is refused is named as the cause, and not shown", async () => {
    const url = new URL(database.url);
    url.password = "hidden";
    const relay = await startPostgresRelay(url.href, "hidden");
    relay.fault = { at: "connection", state: "28P01" };
    const refusal = await refusalOf(relay.url);
    expect(refusal).toMatchObject({ code: "server_unusable", message: expect.stringContaining("the password") });
    expect(inspect(refusal, { depth: 9, showHidden: true })).not.toContain("hidden");
  });

  test("a database that does not exist is named as the cause, and the store may be opened later", async () => {
    expect(await refusalOf(inDatabase("missing"))).toMatchObject({
      code: "server_unusable",
      message: expect.stringContaining("Create the database"),
    });
    const store = createPostgresStore({ connectionString: inDatabase("missing"), schema });
    await expectCode(store.open(context), "server_unusable");
    await setUp("CREATE DATABASE missing", "DROP DATABASE missing WITH (FORCE)");
    onTestFinished(() => store.close());
    await store.open(context);
  });
});

describe.skipIf(isSkippedWithout(hasPostgres()))("a server that is not durable", () => {
  test.each([{ fsync: "off" }, { full_page_writes: "off" }])("a server with %j is refused", async (settings) => {
    const server = await startPostgres(settings);
    onTestFinished(() => server.stop());
    const store = createPostgresStore({ connectionString: server.url });
    await expectCode(store.open(context), "store_not_durable");
  });
});
