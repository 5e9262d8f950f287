import { describe, expect, onTestFinished, test } from "vitest";
import { Sql, Statements } from "#pigeonhole/store/postgres/sql.js";
import { describeOnPostgres } from "../../support/postgres-server.js";
import { newEvent } from "../conformance/fixture.js";
import { borrowClient, openStore } from "./store-on.js";

describeOnPostgres((database) => {
  async function pidOf(name: string): Promise<unknown> {
    const { rows } = await database.pool.query<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE application_name = $1",
      [name],
    );
    return rows[0]?.pid;
  }

  describe("a connection that cannot be used", () => {
    test("a connection to a server that takes no writes is replaced, since the server may stay as it is", async () => {
      const store = await openStore(database);
      await store.accept(newEvent("before"));
      const before = await pidOf("pigeonhole accept");
      const setReadOnly = async (value: "on" | "off"): Promise<void> => {
        await database.pool.query("SET default_transaction_read_only = off");
        await database.pool.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
        await database.pool.query("SELECT pg_reload_conf()");
      };
      onTestFinished(() => setReadOnly("off"));
      await setReadOnly("on");
      await expect
        .poll(() => store.accept(newEvent(`evt_${performance.now()}`)).catch(({ code }: { code: string }) => code))
        .toBe("store_not_primary");
      await setReadOnly("off");
      await expect.poll(() => store.accept(newEvent("after")).catch(() => undefined)).toBeDefined();
      expect(await pidOf("pigeonhole accept")).not.toBe(before);
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
