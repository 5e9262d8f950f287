import { once } from "node:events";
import { type AnyEvent, DoNotRetry, type Handler, RetryAfter } from "pigeonhole";
import { fakeClock } from "pigeonhole/testing";
import { describe, expect, test } from "vitest";
import { openInbox } from "#pigeonhole/store/open-inbox.js";
import { ada, apiOf, openService } from "../outbox/outbox-harness.js";
import { makeEvent, makeGate, openReceiver, post, storeIn, tempFile, workOf } from "../support/receiver.js";
import { postEvent, startReceiver } from "../support/start-receiver.js";

const NOTHING = { done: 0, retried: 0, dead: 0, contactEvents: 0, drained: true };

describe("a receiver that only accepts", () => {
  test("drain runs what is due, sends its contact events, and counts both", async () => {
    const service = await openService();
    const receiver = await startReceiver(
      { role: "accept", api: apiOf(service) },
      {
        "email.sent": ({ data }, ctx) => {
          if (data["how"] === "later") throw new RetryAfter("later", 60_000);
          if (data["how"] === "never") throw new DoNotRetry("never");
          ctx.contactEvents.record(ada("seen"));
        },
      },
    );
    for (const how of ["done", "later", "never", "done"]) await post(receiver, makeEvent({ data: { how } }));
    expect(await receiver.stats()).toMatchObject({ pending: 4, done: 0 });
    expect(await receiver.drain()).toEqual({ done: 2, retried: 1, dead: 1, contactEvents: 2, drained: true });
    expect(service.stored).toHaveLength(2);
    expect(await receiver.stats()).toMatchObject({ pending: 1, running: 0, done: 2, dead: 1 });
    expect(await receiver.drain()).toEqual(NOTHING);
  });

  test("runs nothing between two drains", async () => {
    const clock = fakeClock();
    const ran: string[] = [];
    const receiver = await startReceiver({ role: "accept", clock }, { "email.sent": ({ id }) => void ran.push(id) });
    const first = await postEvent(receiver);
    await receiver.drain();
    const second = await postEvent(receiver);
    await clock.advance(5_000);
    expect(ran).toEqual([first.id]);
    expect(await receiver.drain()).toEqual({ ...NOTHING, done: 1 });
    expect(ran).toEqual([first.id, second.id]);
  });

  test("when the time is over, the handler is aborted and its work waits for the next drain", async () => {
    const clock = fakeClock();
    const begun = makeGate();
    let hangs = true;
    const reasons: unknown[] = [];
    const hang: Handler<AnyEvent> = async (_, { signal }) => {
      if (!hangs) return;
      begun.open();
      await once(signal, "abort");
      reasons.push(signal.reason);
    };
    const receiver = await startReceiver({ role: "accept", clock, concurrency: 1 }, { "email.sent": hang });
    const events = [await postEvent(receiver), await postEvent(receiver)];
    const drained = receiver.drain({ timeoutMs: 1_000 });
    await begun.passed;
    await clock.advance(1_000);
    expect(await drained).toEqual({ ...NOTHING, retried: 1, drained: false });
    expect(reasons).toEqual([expect.objectContaining({ code: "stopped" })]);
    expect(await receiver.stats()).toMatchObject({ pending: 1, retrying: 1, running: 0 });
    hangs = false;
    expect(await receiver.drain()).toEqual({ ...NOTHING, done: 2 });
    // An aborted run is not a failed one.
    for (const { id } of events) expect(await workOf(receiver, id)).toMatchObject({ state: "done", error: null });
  });

  test("two calls at once are one drain", async () => {
    const receiver = await startReceiver({ role: "accept" }, { "email.sent": () => undefined });
    await post(receiver, makeEvent());
    const [one, two] = await Promise.all([receiver.drain(), receiver.drain()]);
    expect([one, two]).toEqual([
      { ...NOTHING, done: 1 },
      { ...NOTHING, done: 1 },
    ]);
  });

  test("a stop ends the drain in progress", async () => {
    const begun = makeGate();
    const hang: Handler<AnyEvent> = (_, { signal }) => {
      begun.open();
      return once(signal, "abort").then(() => Promise.reject(new Error("aborted")));
    };
    const receiver = await startReceiver({ role: "accept", store: storeIn(tempFile()) }, { "email.sent": hang });
    await postEvent(receiver);
    const drained = receiver.drain({ timeoutMs: 600_000 });
    await begun.passed;
    await receiver.stop();
    expect(await drained).toEqual({ ...NOTHING, retried: 1, drained: false });
  });

  test("drains what a command has asked to be read again", async () => {
    const file = tempFile();
    const before = await startReceiver({ role: "accept", store: storeIn(file) });
    const event = makeEvent({ type: "email.brand_new" });
    expect((await post(before, event)).outcome).toBe("parked");
    await before.stop();
    const inbox = await openInbox(file);
    await inbox.changeEvent("retry", event.id);
    await inbox.close();
    const receiver = await startReceiver({ role: "accept", store: storeIn(file) }, { "email.*": () => undefined });
    expect(await receiver.drain()).toEqual({ ...NOTHING, done: 1 });
  });
});

test("a receiver that works all the time waits until nothing is due", async () => {
  const gate = makeGate();
  const receiver = await startReceiver({}, { "email.sent": () => gate.passed });
  for (let index = 0; index < 40; index += 1) await post(receiver, makeEvent());
  expect(await receiver.drain({ timeoutMs: 1 })).toEqual({ ...NOTHING, drained: false });
  const drained = receiver.drain();
  gate.open();
  expect(await drained).toEqual({ ...NOTHING, done: 40 });
  expect(await receiver.stats()).toMatchObject({ pending: 0, running: 0, done: 40 });
});

test("a drain beside the process that runs the handlers of the file does nothing", async () => {
  const file = tempFile();
  await startReceiver({ store: storeIn(file) });
  const receiver = await startReceiver({ store: storeIn(file), role: "accept" });
  expect(await receiver.drain()).toEqual({ ...NOTHING, drained: false });
});

test("a drain of a receiver that does not run is refused", async () => {
  const receiver = openReceiver({ role: "accept" });
  await expect(receiver.drain()).rejects.toMatchObject({ code: "stopped" });
  await receiver.start();
  await receiver.stop();
  await expect(receiver.drain()).rejects.toMatchObject({ code: "stopped" });
});

test.each([-1, 0.5, Number.NaN, "1"])("a timeoutMs of %j is refused", async (timeoutMs) => {
  const receiver = await startReceiver({ role: "accept" });
  expect(() => receiver.drain({ timeoutMs: timeoutMs as number })).toThrow(
    expect.objectContaining({ code: "invalid_option" }),
  );
});
