import { expect, onTestFinished, test } from "vitest";
import type { PostgresStoreOptions } from "#pigeonhole/store/postgres/postgres-store.js";
import { describeOnPostgres } from "../../support/postgres-server.js";
import { expectCode } from "../conformance/new-event.js";
import { openStore } from "./store-on.js";

describeOnPostgres((database) => {
  const table = "public.own";

  /** Opens a store with this `setup`, closed and dropped after the test. */
  async function openWith(setup: PostgresStoreOptions["setup"]): Promise<void> {
    onTestFinished(async () => void (await database.pool.query(`DROP TABLE IF EXISTS ${table}`)));
    await openStore(database, database.pool, { setup });
  }

  async function hasTable(): Promise<boolean> {
    const { rows } = await database.pool.query<{ found: boolean }>("SELECT to_regclass($1) IS NOT NULL AS found", [
      table,
    ]);
    return rows[0]?.found === true;
  }

  test("setup makes the user's tables when the store is opened", async () => {
    await openWith(({ client }) => client.query(`CREATE TABLE ${table} (name text)`));
    expect(await hasTable()).toBe(true);
  });

  test("of ten stores that are opened at once, one runs its setup after the other", async () => {
    let running = 0;
    let most = 0;
    const setup: PostgresStoreOptions["setup"] = async ({ client }) => {
      running += 1;
      most = Math.max(most, running);
      // Without the lock, two of these at once fail with a duplicate key in the catalogue.
      await client.query(`CREATE TABLE IF NOT EXISTS ${table} (name text)`);
      await client.query(`INSERT INTO ${table} SELECT 'one' WHERE NOT EXISTS (SELECT 1 FROM ${table})`);
      running -= 1;
    };
    await Promise.all(Array.from({ length: 10 }, () => openWith(setup)));
    const { rows } = await database.pool.query(`SELECT name FROM ${table}`);
    expect({ rows, most }).toEqual({ rows: [{ name: "one" }], most: 1 });
  });

  test("settings that a setup made do not stay on a connection of the pool", async () => {
    await openWith(({ client }) => client.query("SET default_transaction_read_only = on"));
    const idle = Array.from({ length: Math.max(1, database.pool.totalCount) }, () => database.pool.connect());
    for (const client of await Promise.all(idle)) {
      const { rows } = await client.query("SELECT current_setting('default_transaction_read_only') AS value");
      client.release();
      expect(rows).toEqual([{ value: "off" }]);
    }
  });

  test("a setup that throws writes nothing, and the store is not opened", async () => {
    const mistake = new Error("no");
    const opened = openWith(async ({ client }) => {
      await client.query(`CREATE TABLE ${table} (name text)`);
      throw mistake;
    });
    await expect(opened).rejects.toBe(mistake);
    expect(await hasTable()).toBe(false);
  });

  test("a setup rejects with the error of the user's statement", async () => {
    await expect(openWith(({ client }) => client.query("CREATE TABEL own ()"))).rejects.toMatchObject({
      code: "42601",
    });
  });

  test.each(["COMMIT", "SELECT 1 / 0"])("a setup with %s is refused, also if its error is caught", async (sql) => {
    const opened = openWith(async ({ client }) => {
      await client.query(`CREATE TABLE ${table} (name text)`);
      await client.query(sql).catch(() => undefined);
    });
    await expectCode(opened, "transaction_ended");
    expect(await hasTable()).toBe(false);
  });
});
