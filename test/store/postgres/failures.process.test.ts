import { inspect } from "node:util";
import { Client } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { HOUR } from "#pigeonhole/base/duration.js";
import { PigeonholeError } from "#pigeonhole/base/error.js";
import { AbandonedSessions } from "#pigeonhole/store/postgres/abandoned-sessions.js";
import { Sql, Statements } from "#pigeonhole/store/postgres/sql.js";
import { asPostgresError } from "#pigeonhole/store/postgres/store-error.js";
import * as postgres from "#pigeonhole/store/postgres/postgres-store.js";
import { type FakeClock, fakeClock } from "pigeonhole/testing";
import { describeOnPostgres } from "../../support/postgres-server.js";
import { measureSlowness } from "../../support/slowness.js";
import { hasPostgres, isSkippedWithout } from "../../support/tools.js";
import { expectCode, newEvent, T } from "../conformance/new-event.js";
import { acceptLeased } from "../conformance/lease-page.js";
import { openWithStandby, storeWithoutStandby } from "./standby.js";
import { borrowClient, openStore } from "./store-on.js";

describe("an error of PostgreSQL", () => {
  test.each([
    ["08006", "store_unreachable"],
    ["57P01", "store_unreachable"],
    ["57P03", "store_unreachable"],
    ["53300", "store_unreachable"],
    ["53100", "store_full"],
    ["53200", "store_busy"],
    ["55P03", "store_busy"],
    ["57014", "store_busy"],
    ["40001", "store_busy"],
    ["40P01", "store_busy"],
    ["25006", "store_not_primary"],
    ["XX001", "store_corrupt"],
    ["42501", "server_unusable"],
    ["28P01", "server_unusable"],
    ["3D000", "server_unusable"],
    ["53400", "server_unusable"],
    ["23505", "store_failed"],
  ])("an error with SQLSTATE %s becomes %s, and has none of the server's texts", (code, expected) => {
    const canary = "ann@example.com";
    const texts = { message: canary, detail: canary, where: canary, hint: canary };
    const error = asPostgresError(Object.assign(new Error(canary), { severity: "ERROR", code, ...texts }), "accept");
    expect(error).toMatchObject({ code: expected, message: expect.stringContaining(code) });
    expect(error.cause).toBeUndefined();
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(canary);
  });

  test("an error of the network has its code, and one of the store stays as it is", () => {
    const network = Object.assign(new Error("write EPIPE ann@example.com"), { code: "EPIPE" });
    expect(asPostgresError(network, "accept")).toMatchObject({ code: "store_unreachable" });
    const own = new PigeonholeError("lease_lost", "lost");
    expect(asPostgresError(own, "accept")).toBe(own);
  });
});

describeOnPostgres((database) => {
  test("a store that waits for a lock answers in time, and goes on after it", async () => {
    const store = await openStore(database);
    const client = await borrowClient(database.pool);
    await client.query(`BEGIN; LOCK TABLE ${database.schema}.inbox_event IN ACCESS EXCLUSIVE MODE`);
    const begun = performance.now();
    await expectCode(store.accept(newEvent("evt_1")), "store_busy");
    expect(performance.now() - begun).toBeLessThan(5_000 * measureSlowness());
    await client.query("ROLLBACK");
    expect(await store.accept(newEvent("evt_1"))).toMatchObject({ kind: "stored" });
  });

  test("a retry by hand that waits for a lock is refused in time", async () => {
    const store = await openStore(database);
    const { seq } = await acceptLeased(store, "evt_1");
    const client = await borrowClient(database.pool);
    await client.query(`BEGIN; SELECT 1 FROM ${database.schema}.inbox_work FOR UPDATE`);
    const begun = performance.now();
    await expectCode(store.replan({ seq, handlers: ["h"], now: T }), "store_busy");
    expect(performance.now() - begun).toBeLessThan(8_000 * measureSlowness());
  });

  test("one event that cannot be stored fails alone", async () => {
    const store = await openStore(database);
    const events = ["a", "b", "c"].map((id) => newEvent(id, { receivedAt: id === "b" ? Number.NaN : T }));
    const results = await Promise.allSettled(events.map((event) => store.accept(event)));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });
});

describe.skipIf(isSkippedWithout(hasPostgres()))("a synchronous standby that is away", () => {
  test("neither a new event nor its duplicate is answered before the standby has it", async () => {
    const { store, client, setStandby } = await openWithStandby(postgres);
    await setStandby("away");
    await storeWithoutStandby(store, client, "evt_1");
    await expectCode(store.accept(newEvent("evt_1")), "store_unreachable");

    const cancelled = expectCode(store.accept(newEvent("evt_2")), "store_not_durable");
    const cancel =
      "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%inbox_event_number%'";
    await expect.poll(async () => (await client.query(cancel)).rowCount).toBe(1);
    await cancelled;

    // A connection that was given up is not left to wait.
    await expectCode(store.accept(newEvent("evt_3")), "store_unreachable");
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    await expect.poll(async () => (await client.query(waiting)).rowCount).toBe(1);

    await setStandby("");
    expect(await store.accept(newEvent("evt_1"))).toEqual({ kind: "duplicate", otherBytes: false });
  });

  test("of the connections that were given up, one that waits ends, and no other with its number", async () => {
    const { client, setStandby } = await openWithStandby(postgres);
    await client.query(`
      CREATE SCHEMA of_another;
      CREATE FUNCTION of_another.pg_postmaster_start_time() RETURNS timestamptz LANGUAGE sql AS $$ SELECT now() $$`);
    const { host, port, user, database } = client;
    const waiting = new Client({ host, port, user, database });
    waiting.on("error", () => undefined);
    onTestFinished(() => waiting.end());
    await waiting.connect();
    await setStandby("away");
    const outcome = waiting.query("CREATE TABLE waits ()").catch((error: unknown) => error);
    const state = () => client.query("SELECT wait_event FROM pg_stat_activity WHERE query LIKE 'CREATE TABLE waits%'");
    await expect.poll(async () => (await state()).rows).toEqual([{ wait_event: "SyncRep" }]);

    const sql = new Sql(client, new Statements("unused"));
    const giveUp = async (clock: FakeClock): Promise<AbandonedSessions> => {
      const abandoned = new AbandonedSessions(clock);
      await abandoned.end(sql);
      abandoned.add(waiting);
      return abandoned;
    };
    const clock = fakeClock();
    const younger = await giveUp(clock);
    await clock.advance(HOUR);
    await younger.end(sql);
    const ofAnotherServer = await giveUp(clock);
    await client.query("SET search_path = of_another, pg_catalog");
    await ofAnotherServer.end(sql);
    await client.query("RESET search_path");
    await ofAnotherServer.end(sql);
    expect((await state()).rows).toEqual([{ wait_event: "SyncRep" }]);

    await (await giveUp(clock)).end(sql);
    expect(await outcome).toBeInstanceOf(Error);
  });
});
