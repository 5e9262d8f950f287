import { expect, test } from "vitest";
import { describeOnPostgres } from "../support/postgres-server.js";
import { makeEvent, makeGate, post } from "../support/receiver.js";
import { measureSlowness } from "../support/slowness.js";
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
    expect((started.get(event.id) ?? Infinity) - acceptedAt).toBeLessThan(1_500 * measureSlowness());
    gate.open();
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
    expect((await first.stats()).running).toBeGreaterThan(10);
    await second.start();
    await expect.poll(() => ran.length).toBe(18);
    gate.open();
    await expect.poll(async () => (await first.stats()).done).toBe(60);
  });
});
