import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import type { Alarm } from "pigeonhole";
import { Pool } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { type RelayFault, startPostgresRelay } from "../support/postgres-relay.js";
import { describeOnPostgres } from "../support/postgres-server.js";
import { captureLog, makeEvent, makeGate, post } from "../support/receiver.js";
import { measureSlowness } from "../support/slowness.js";
import { type NodeOptions, createNode, dropAfterTest } from "./shared-nodes.js";

/** PostgreSQL's texts quote keys, and a connection string has a password: neither may be seen. */
const [ADDRESS, PASSWORD] = ["ann@example.com", "hidden"];
const CANARY = new RegExp(`${ADDRESS}|${PASSWORD}`);

describeOnPostgres((database) => {
  function open({ connectionString, ...options }: NodeOptions & { connectionString: string }) {
    const log = captureLog();
    const alarms: Alarm[] = [];
    const pool = new Pool({ connectionString, max: 5 });
    dropAfterTest(database);
    onTestFinished(() => pool.end());
    const reports = { logger: log.logger, onAlarm: (alarm: Alarm) => alarms.push(alarm) };
    return { receiver: createNode(database, { pool, ...reports, ...options }), log, alarms, pool };
  }

  describe("a fault of the database", () => {
    test.each<[string, RelayFault, string]>([
      ["cannot be reached", { at: "socket" }, "store_unreachable"],
      ["is silent", { at: "silence" }, "store_unreachable"],
      ["is starting up", { at: "connection", state: "57P03" }, "store_unreachable"],
      ["has too many connections", { at: "connection", state: "53300" }, "store_unreachable"],
      ["refuses the password", { at: "connection", state: "28P01" }, "server_unusable"],
      ["is shutting down", { at: "statement", state: "57P01" }, "store_unreachable"],
      ["has a full disk", { at: "statement", state: "53100" }, "store_full"],
      ["has no memory", { at: "statement", state: "53200" }, "store_busy"],
      ["takes no writes", { at: "statement", state: "25006" }, "store_not_primary"],
      ["ends a wait for a lock", { at: "statement", state: "55P03" }, "store_busy"],
      ["ends a statement for its time", { at: "statement", state: "57014" }, "store_busy"],
      ["finds a deadlock", { at: "statement", state: "40P01" }, "store_busy"],
      ["cannot serialize", { at: "statement", state: "40001" }, "store_busy"],
      ["refuses the user", { at: "statement", state: "42501" }, "server_unusable"],
      ["has a damaged page", { at: "statement", state: "XX001" }, "store_corrupt"],
    ])(
      "while the database %s, deliveries are answered 503, with an alarm, until it is over",
      async (_, fault, code) => {
        const url = new URL(database.url);
        url.password = PASSWORD;
        const relay = await startPostgresRelay(url.href, ADDRESS);
        const { receiver, log, alarms } = open({ connectionString: relay.url });
        receiver.on("email.sent", () => undefined);
        await receiver.start();
        const event = makeEvent({ data: { to: ADDRESS } });
        relay.fault = fault;
        // Connections that were made before are closed too.
        if (fault.at === "socket" || fault.at === "connection") relay.cut();
        const begun = performance.now();
        const { status, headers, text } = await post(receiver, event);
        expect(status).toBe(503);
        expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
        expect(text + inspect([...headers])).not.toMatch(CANARY);
        expect(performance.now() - begun).toBeLessThan(5_000 * measureSlowness());
        expect(alarms).toContainEqual(expect.objectContaining({ kind: "store_unavailable", code }));
        relay.fault = undefined;
        await expect.poll(async () => (await post(receiver, event)).status).toBe(200);
        // The pool would wait longer for answers on its own connections.
        if (fault.at === "silence") relay.cut();
        await expect.poll(async () => (await receiver.stats().catch(() => undefined))?.done).toBe(1);
        expect(inspect([log.lines, alarms], { depth: 9 })).not.toMatch(CANARY);
      },
    );
  });

  test("a receiver whose server has fallen silent stops in time, with a run and a delivery under way", async () => {
    const relay = await startPostgresRelay(database.url);
    const { receiver } = open({ connectionString: relay.url });
    const begun = makeGate();
    receiver.on("email.sent", async (_, { signal }) => {
      begun.open();
      await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
    });
    await receiver.start();
    await post(receiver, makeEvent());
    await begun.passed;
    relay.fault = { at: "silence" };
    const answer = post(receiver, makeEvent());
    const since = performance.now();
    await receiver.stop({ timeoutMs: 500 });
    // Some seconds for the last answers; without a limit it would be minutes.
    expect(performance.now() - since).toBeLessThan(30_000);
    expect((await answer).status).toBe(503);
    relay.cut();
  });

  test("a receiver stops in time whose server falls silent while it removes old rows in a drain", async () => {
    const relay = await startPostgresRelay(database.url);
    const { receiver, log, pool } = open({ connectionString: relay.url, role: "accept" });
    receiver.on("email.sent", () => undefined);
    let removed = 0;
    pool.on("remove", () => (removed += 1));
    let isSilent = false;
    const to = /ids_removed_before/;
    relay.fault = { at: "silence", to: { test: (text: string) => to.test(text) && (isSilent = true) } as RegExp };
    await receiver.start();
    const draining = receiver.drain().catch(() => undefined);
    await expect.poll(() => isSilent).toBe(true);
    relay.fault = { at: "silence" };
    const since = performance.now();
    await receiver.stop({ timeoutMs: 0 });
    expect(performance.now() - since).toBeLessThan(20_000);
    await draining;
    // The application can end its pool, which would wait for the answer.
    expect(removed).toBeGreaterThan(0);
    relay.cut();
    expect(log.named("prune_failed")).toEqual([]);
  });

  test("an idle receiver asks the server at most twice a second, however many handlers it has", async () => {
    const relay = await startPostgresRelay(database.url);
    const { receiver } = open({ connectionString: relay.url });
    for (let handlers = 0; handlers < 30; handlers += 1) {
      receiver.on("email.sent", () => undefined, { name: `handler ${handlers}` });
    }
    await receiver.start();
    await post(receiver, makeEvent());
    await expect.poll(async () => (await receiver.stats()).done).toBe(30);
    await sleep(1_500);
    relay.statementsLeft = 1_000;
    await sleep(5_000);
    expect(1_000 - relay.statementsLeft).toBeLessThanOrEqual(10);
  });

  test("accepting does not wait for connections that handlers hold, and no process ends when all are closed", async () => {
    const { receiver, pool } = open({ connectionString: database.url, concurrency: 16, retry: { initialMs: 10 } });
    const gate = makeGate();
    receiver.on("email.sent", (_, { commit }) => commit(() => gate.passed));
    await receiver.start();
    for (let deliveries = 0; deliveries < 40; deliveries += 1) {
      const begun = performance.now();
      expect(await post(receiver, makeEvent())).toMatchObject({ status: 200 });
      expect(performance.now() - begun).toBeLessThan(1_000 * measureSlowness());
    }
    await expect.poll(() => [pool.totalCount, pool.idleCount, pool.waitingCount > 0]).toEqual([5, 0, true]);
    await database.pool.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()",
    );
    gate.open();
    await expect.poll(async () => (await receiver.stats().catch(() => undefined))?.done).toBe(40);
  });
});
