import { inspect } from "node:util";
import { Pool } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { createPostgresStore } from "#pigeonhole/store/postgres/postgres-store.js";
import { describeOnPostgres, startPostgres } from "../../support/postgres-server.js";
import { findFreePort } from "../../support/free-port.js";
import { hasPostgres } from "../../support/tools.js";
import { context, expectCode, newEvent, T } from "../conformance/fixture.js";
import { newRecord } from "../conformance/outbox-fixture.js";
import { openStore } from "./store-on.js";

describe("the options of createPostgresStore", () => {
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

  describe("opening", () => {
    test("ten stores that are opened at once on an empty database all come up, and share the work", async () => {
      const stores = Array.from({ length: 10 }, () => createPostgresStore({ connectionString: database.url, schema }));
      onTestFinished(async () => {
        for (const store of stores) await store.close();
        await database.pool.query(`DROP SCHEMA ${schema} CASCADE`);
      });
      await Promise.all(stores.map((store) => store.open(context)));
      const results = await Promise.all(stores.map((store) => store.accept(newEvent("evt_1"))));
      expect(results.filter(({ kind }) => kind === "stored")).toHaveLength(1);
    });

    test("a store does not care about the search path, the durability and the isolation of its role", async () => {
      const settings = "-c search_path=nowhere -c synchronous_commit=off -c default_transaction_isolation=serializable";
      const pool = new Pool({ connectionString: database.url, options: settings });
      onTestFinished(() => pool.end());
      const store = await openStore(database, pool);
      const copies = await Promise.all(Array.from({ length: 20 }, () => store.accept(newEvent("evt_1"))));
      expect(copies.filter(({ kind }) => kind === "stored")).toHaveLength(1);
      const { rows } = await database.pool.query(
        "SELECT count(*) AS connections FROM pg_stat_activity WHERE application_name LIKE 'pigeonhole %'",
      );
      expect(rows).toEqual([{ connections: "3" }]);
    });

    test("two schemas of a database are two stores", async () => {
      const other = `${schema}_2`;
      await setUp("SELECT 1", `DROP SCHEMA ${other} CASCADE`);
      const first = await openStore(database);
      const second = createPostgresStore({ pool: database.pool, schema: other });
      onTestFinished(() => second.close());
      await second.open(context);
      await first.accept(newEvent("evt_1"));
      expect(await second.accept(newEvent("evt_1"))).toMatchObject({ kind: "stored" });
      expect(await second.recover(T)).toMatchObject({ recovered: 0 });
    });

    test.each(["user", "select", "public_1"])("a schema may be called %s", async (name) => {
      const store = createPostgresStore({ pool: database.pool, schema: name });
      onTestFinished(async () => {
        await store.close();
        await database.pool.query(`DROP SCHEMA IF EXISTS "${name}" CASCADE`);
      });
      await store.open(context);
      await store.accept(newEvent("evt_1"));
      await store.record([newRecord("a")], T);
      expect(await store.list({})).toMatchObject({ items: [{ id: "evt_1" }] });
    });

    test("a store that was closed can be opened again, and knows what it had", async () => {
      const store = await openStore(database);
      await store.accept(newEvent("evt_1"));
      await store.close();
      await store.open(context);
      expect(await store.accept(newEvent("evt_1"))).toMatchObject({ kind: "duplicate" });
    });
  });

  describe("refused at open", () => {
    test("a newer schema is refused", async () => {
      await openStore(database);
      await database.pool.query(`INSERT INTO ${schema}.migration (version) VALUES (99)`);
      expect(await refusalOf(database.url)).toMatchObject({ code: "schema_too_new" });
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
      await setUp("SELECT 1", `DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      const url = new URL(database.url);
      [url.username, url.password] = [role, "hidden"];
      const refusal = await refusalOf(url.href);
      expect(refusal).toMatchObject({ code: "server_unusable", message: expect.stringContaining("rights") });
      await database.pool.query(`CREATE SCHEMA ${schema} AUTHORIZATION ${role}`);
      const store = createPostgresStore({ connectionString: url.href, schema });
      onTestFinished(() => store.close());
      await store.open(context);
    });

    test("a server that does not answer is unreachable, and no error has the password", async () => {
      const port = await findFreePort();
      const refusal = await refusalOf(`postgres://app:hidden@127.0.0.1:${port}/app`);
      expect(refusal).toMatchObject({ code: "store_unreachable", message: expect.stringContaining("ECONNREFUSED") });
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
});

describe.skipIf(!hasPostgres())("a server that is not durable", () => {
  test.each([{ fsync: "off" }, { full_page_writes: "off" }])("a server with %j is refused", async (settings) => {
    const server = await startPostgres(settings);
    onTestFinished(() => server.stop());
    const store = createPostgresStore({ connectionString: server.url });
    await expectCode(store.open(context), "store_not_durable");
  });
});
