import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { describeOnPostgres, startPostgres } from "../support/postgres-server.js";
import { hasPostgres } from "../support/tools.js";
import { makeEvent, makeGate, post } from "../support/receiver.js";
import { shareSlowWork } from "./share-slow-work.js";
import { createNode, dropAfterTest } from "./shared-nodes.js";

describeOnPostgres((database) => {
  test("of slow work that one of three processes accepts, the others do their part", async () => {
    const { runs } = await shareSlowWork(database, { events: 60, runMs: 200 });
    expect(Math.min(...runs), `runs of each: ${runs.join(", ")}`).toBeGreaterThanOrEqual(10);
  });

  test("what one process has no place for starts on another within a second", async () => {
    dropAfterTest(database);
    const gate = makeGate();
    const [busy, free] = [createNode(database, { concurrency: 1 }), createNode(database, { concurrency: 1 })];
    busy.on("email.sent", () => gate.passed);
    const started = new Map<string, number>();
    free.on("email.sent", ({ id }) => void started.set(id, performance.now()));
    await busy.start();
    // The first two fill the place, and what may wait for it.
    for (let index = 0; index < 2; index += 1) await post(busy, makeEvent());
    await free.start();
    const event = makeEvent();
    await post(busy, event);
    const acceptedAt = performance.now();
    await expect.poll(() => started.get(event.id), { interval: 10 }).toBeDefined();
    // Half a second more for a machine that does other work too.
    expect((started.get(event.id) ?? Infinity) - acceptedAt).toBeLessThan(1_500);
    gate.open();
  });

  test("of two processes, one only accepts, and the other one only works", async () => {
    dropAfterTest(database);
    const [accepting, working] = [createNode(database, { role: "accept" }), createNode(database, { role: "work" })];
    const ran: string[] = [];
    for (const [name, node] of Object.entries({ accepting, working })) {
      node.on("email.sent", ({ id }) => void ran.push(`${name} ${id}`));
      await node.start();
    }
    const events = [makeEvent(), makeEvent(), makeEvent()];
    for (const event of events) {
      expect(await post(working, event)).toMatchObject({ status: 503, outcome: "not_accepting" });
      expect(await post(accepting, event)).toMatchObject({ status: 200, outcome: "accepted" });
    }
    await expect.poll(async () => (await accepting.stats()).done).toBe(events.length);
    expect(ran.toSorted()).toEqual(events.map(({ id }) => `working ${id}`).toSorted());
  });

  test("work that waits behind runs which have become slow goes to another process", async () => {
    dropAfterTest(database);
    const gate = makeGate();
    let isSlow = false;
    const [first, second] = [createNode(database, { concurrency: 2 }), createNode(database, { concurrency: 2 })];
    first.on("email.sent", async () => {
      if (isSlow) await gate.passed;
    });
    const ran: string[] = [];
    second.on("email.sent", ({ id }) => void ran.push(id));
    await first.start();
    for (let index = 0; index < 40; index += 1) await post(first, makeEvent());
    await expect.poll(async () => (await first.stats()).done).toBe(40);
    isSlow = true;
    for (let index = 0; index < 20; index += 1) await post(first, makeEvent());
    // Otherwise there is nothing to give back.
    expect((await first.stats()).leased).toBeGreaterThan(10);
    await second.start();
    await expect.poll(() => ran.length).toBe(18);
    gate.open();
    await expect.poll(async () => (await first.stats()).done).toBe(60);
  });
});

describe.skipIf(!hasPostgres() && process.env["CI"] === undefined)("without work", () => {
  test("a process makes at most two statements a second, however many handlers it has", async () => {
    const server = await startPostgres({ logging_collector: "on", log_statement: "all", log_line_prefix: "%a|" });
    onTestFinished(() => server.stop());
    const pool = new Pool({ connectionString: server.url });
    pool.on("error", () => undefined);
    onTestFinished(() => pool.end());
    const node = createNode({ url: server.url, schema: "pigeonhole" }, { baseUrl: "http://127.0.0.1:9/v1" });
    for (let index = 0; index < 20; index += 1) node.on("email.sent", () => undefined, { name: `handler ${index}` });
    await node.start();
    const countStatements = async (): Promise<number> => {
      const { rows } = await pool.query<{ log: string }>("SELECT pg_read_file(pg_current_logfile()) AS log");
      return rows[0]?.log.match(/^pigeonhole[^|]*\|LOG: {2}(statement|execute)/gm)?.length ?? 0;
    };
    // What a start makes has passed.
    await sleep(3_000);
    const before = await countStatements();
    const since = performance.now();
    await sleep(5_000);
    const statements = (await countStatements()) - before;
    expect(statements).toBeGreaterThan(0);
    expect(statements / ((performance.now() - since) / 1_000)).toBeLessThanOrEqual(2);
  });
});
