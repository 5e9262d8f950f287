import { describe, expect, test } from "vitest";
import { PigeonholeError, RetryAfter } from "pigeonhole";
import { fakeClock } from "pigeonhole/testing";
import { captureLog } from "../support/capture-log.js";
import { closeReceiver, makeEvent, openReceiver, post, untilWork } from "../support/receiver.js";
import { decorateStore, storeIn, tempFile } from "../support/store-in.js";
import { makeGate } from "../support/gate.js";
import * as z from "zod";
import { startReceiver, postEvent } from "../support/start-receiver.js";

test("a backlog longer than the window is run once per event, with a limited number of leases", async () => {
  const total = 540;
  const gate = makeGate();
  const runs: string[] = [];
  const receiver = openReceiver({ highWaterMark: total });
  receiver.on("email.sent", async ({ id }) => {
    await gate.passed;
    runs.push(id);
  });
  await receiver.start();
  const sent = Array.from({ length: total }, () => makeEvent());
  await Promise.all(sent.map((event) => post(receiver, event)));
  const begun = (await receiver.stats()).running;
  expect(begun).toBeGreaterThan(100);
  expect(await receiver.stats()).toMatchObject({ pending: total - begun, done: 0 });
  const running: number[] = [begun];
  gate.open();
  const readDone = async () => {
    const stats = await receiver.stats();
    running.push(stats.running);
    return stats.done;
  };
  await expect.poll(readDone).toBe(total);
  expect(Math.max(...running)).toBeLessThanOrEqual(512);
  expect(runs.toSorted()).toEqual(sent.map(({ id }) => id).toSorted());
  expect(await receiver.stats()).toMatchObject({ pending: 0, running: 0, dead: 0 });
});

test("due work runs while the store refuses deliveries", async () => {
  const clock = fakeClock();
  const gate = makeGate();
  let isHeld = false;
  let held = 0;
  const store = decorateStore((real) => ({
    async accept(event) {
      if (!isHeld) return real.accept(event);
      held += 1;
      await gate.passed;
      throw new Error("refused");
    },
  }));
  let runs = 0;
  const receiver = openReceiver({ store, clock });
  receiver.on("email.sent", () => {
    runs += 1;
    if (runs === 1) throw new RetryAfter("soon", 500);
  });
  await receiver.start();
  const event = await postEvent(receiver);
  await untilWork(receiver, event.id, { state: "retrying", attempts: 1 });
  isHeld = true;
  // More than half a window is reserved for them when the retry comes due.
  const refused = Array.from({ length: 400 }, () => post(receiver, makeEvent()));
  await expect.poll(() => held).toBe(400);
  await clock.advance(500);
  expect(runs).toBe(1);
  gate.open();
  expect(new Set((await Promise.all(refused)).map(({ outcome }) => outcome))).toEqual(new Set(["store_unavailable"]));
  await untilWork(receiver, event.id, { state: "done", attempts: 2 });
  expect(runs).toBe(2);
});

describe("handlers that come and go", () => {
  test("events that were accepted before a handler existed go to it after a retry", async () => {
    const file = tempFile();
    const before = openReceiver({ store: storeIn(file) });
    await before.start();
    const event = makeEvent({ data: { n: 1 } });
    expect((await post(before, event)).outcome).toBe("accepted");
    await closeReceiver(before);

    const seen: unknown[] = [];
    const after = await startReceiver({ store: storeIn(file) }, { "email.sent": ({ data }) => seen.push(data) });
    expect(seen).toEqual([]);
    expect(await after.inbox.retry(event.id)).toEqual({ pending: 1, parked: undefined });
    await untilWork(after, event.id, { state: "done" });
    expect(seen).toEqual([{ n: 1 }]);
    expect(await after.inbox.retry(event.id)).toEqual({ pending: 0, parked: undefined });
  });

  test("work of a missing handler waits, is reported at the start, and runs when the handler is registered again", async () => {
    const file = tempFile();
    const first = openReceiver({ store: storeIn(file), retry: { initialMs: 1, jitter: 0 } });
    first.on(
      "email.sent",
      () => {
        throw new RetryAfter("not yet", 100);
      },
      { name: "billing" },
    );
    await first.start();
    const event = await postEvent(first);
    await untilWork(first, event.id, { state: "retrying" }, "billing");
    await closeReceiver(first);

    const log = captureLog();
    const without = openReceiver({ store: storeIn(file), logger: log.logger });
    without.on("email.sent", () => expect.fail("has another name"), { name: "renamed" });
    await without.start();
    await expect
      .poll(() => log.named("work_waits_for_a_handler_that_is_not_registered"))
      .toEqual([expect.objectContaining({ level: 40, handler: "billing", pending: 1 })]);
    expect((await without.stats()).pendingByHandler).toEqual({ billing: 1 });
    await closeReceiver(without);

    const back = openReceiver({ store: storeIn(file), logger: log.logger });
    let runs = 0;
    back.on("email.sent", () => (runs += 1), { name: "billing" });
    await back.start();
    await untilWork(back, event.id, { state: "done" }, "billing");
    expect(runs).toBe(1);
    expect(log.named("work_waits_for_a_handler_that_is_not_registered")).toHaveLength(1);
  });
});

test("work of a dead process is released although the store is busy, and its handler continues", async () => {
  const file = tempFile();
  const dead = storeIn(file);
  await dead.open(captureLog());
  const { id, ...rest } = makeEvent();
  const body = Buffer.from(JSON.stringify({ id, ...rest }));
  const times = { receivedAt: Date.now(), signedAt: Date.now() };
  const work = [{ handler: "email.sent", leaseUntil: Date.now() }];
  await dead.accept({ id, type: "email.sent", test: false, body, ...times, work });
  await dead.close();

  let refusals = 0;
  const store = decorateStore(
    (real) => ({
      settle(settlement) {
        if (settlement.to !== "parked" || refusals > 0) return real.settle(settlement);
        refusals += 1;
        return Promise.reject(new PigeonholeError("store_busy", "Another connection holds the database."));
      },
    }),
    file,
  );
  const clock = fakeClock(times.receivedAt);
  const receiver = openReceiver({ store, clock, schemas: { "email.sent": z.object({ stricter: z.literal(true) }) } });
  let runs = 0;
  receiver.on("email.sent", () => (runs += 1));
  await receiver.start();
  await untilWork(receiver, id, { state: "parked", reason: "bad_data", attempts: 2 }, "email.sent", clock);
  expect(refusals).toBe(1);
  const next = await postEvent(receiver, { data: { stricter: true } });
  await untilWork(receiver, next.id, { state: "done" });
  expect(runs).toBe(1);
});
