import express from "express";
import request from "supertest";
import { describe, expect, expectTypeOf, onTestFinished, test } from "vitest";
import * as z from "zod";
import { DoNotRetry, createReceiver } from "pigeonhole";
import {
  TEST_SECRET,
  createTestReceiver,
  deliver,
  fakeClock,
  sampleEvent,
  sampleTestEvent,
  signDelivery,
} from "pigeonhole/testing";
import { isoTime } from "#pigeonhole/base/iso-time.js";
import { stopAfterTest } from "../support/receiver.js";

const handlerStates = (handlers: { handler: string; state: string }[]) =>
  Object.fromEntries(handlers.map(({ handler, state }) => [handler, state]));

test("a test receiver whose options are undefined has its own secret, database and logger", async () => {
  const options = { secrets: undefined, store: undefined, logger: undefined, retry: { maxAttempts: undefined } };
  const receiver = stopAfterTest(createTestReceiver(options));
  expect((await deliver(receiver, sampleEvent("email.sent"))).status).toBe(200);
});

describe("what deliver returns", () => {
  test("with named secrets, the event of the source whose secret has signed it", async () => {
    const beta = `whsec_${"b".repeat(43)}`;
    const receiver = stopAfterTest(createTestReceiver({ secrets: { acme: TEST_SECRET, beta } }));
    receiver.on("email.sent", () => undefined);
    const same = sampleEvent("email.sent", {}, { id: "same" });
    const idOf = async (event = same, secret = TEST_SECRET) => {
      const { outcome, event: stored } = await deliver(receiver, event, { secret });
      return [outcome, stored?.id];
    };
    expect(await idOf()).toEqual(["accepted", "acme/same"]);
    expect(await idOf(same, beta)).toEqual(["accepted", "beta/same"]);
    expect(await idOf()).toEqual(["duplicate", "acme/same"]);
    expect(await idOf({ ...same, id: "beta/same" })).toEqual(["accepted", "acme/beta/same"]);
  });

  test("deliver returns the result of an event, with each handler's first run", async () => {
    const receiver = stopAfterTest(createTestReceiver());
    const seen: unknown[] = [];
    receiver
      .on("email.bounced", (event) => seen.push(event.data), { name: "good" })
      .on(
        "email.*",
        () => {
          throw new Error("not now");
        },
        { name: "failing" },
      )
      .on(
        "*",
        () => {
          throw new DoNotRetry("never");
        },
        { name: "dead" },
      )
      .on("email.sent", () => expect.fail("another type"));
    const event = sampleEvent("email.bounced");
    const delivered = await deliver(receiver, event);
    expect(delivered).toMatchObject({ status: 200, outcome: "accepted", event: { id: event.id, state: "dead" } });
    expect(handlerStates(delivered.handlers)).toEqual({ good: "done", failing: "retrying", dead: "dead" });
    expect(delivered.handlers).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ handler: "failing", error: "Error: not now", attempts: 1 }),
        expect.objectContaining({ handler: "dead", error: "DoNotRetry: never", reason: "do_not_retry" }),
      ]),
    );
    expect(seen).toEqual([event.data]);
  });

  test("deliver returns duplicate for the same event a second time, which runs nothing", async () => {
    const receiver = stopAfterTest(createTestReceiver());
    let runs = 0;
    receiver.on("email.sent", () => (runs += 1));
    const event = sampleEvent("email.sent");
    await deliver(receiver, event);
    const delivered = await deliver(receiver, event);
    expect(delivered).toMatchObject({ status: 200, outcome: "duplicate", handlers: [{ state: "done", attempts: 1 }] });
    expect(runs).toBe(1);
  });

  test("deliver returns parked for an event that a schema refuses", async () => {
    const receiver = stopAfterTest(createTestReceiver({ schemas: { "email.sent": z.object({ n: z.number() }) } }));
    receiver.on("email.sent", () => expect.fail("must not run"));
    expect(await deliver(receiver, sampleEvent("email.sent"))).toMatchObject({
      status: 200,
      outcome: "parked",
      event: { state: "parked" },
      handlers: [{ handler: "", state: "parked", reason: "bad_data" }],
    });
  });

  test.each<[string, { secret?: string; timestamp?: number }]>([
    ["another secret", { secret: `whsec_${"z".repeat(43)}` }],
    ["an old signature", { timestamp: Date.now() - 400_000 }],
  ])("deliver returns unverified for an event under %s, and stores nothing", async (_, options) => {
    const receiver = stopAfterTest(createTestReceiver());
    receiver.on("email.sent", () => expect.fail("must not run"));
    const event = sampleEvent("email.sent");
    expect(await deliver(receiver, event, options)).toEqual({
      status: 503,
      outcome: "unverified",
      event: undefined,
      handlers: [],
    });
    expect(await receiver.inbox.get(event.id)).toBeUndefined();
  });

  test("deliver returns accepted for an event without a handler, and for a test event", async () => {
    const receiver = stopAfterTest(createTestReceiver());
    for (const event of [sampleEvent("form.submitted"), sampleTestEvent()]) {
      expect(await deliver(receiver, event)).toMatchObject({
        outcome: "accepted",
        event: { state: "unhandled" },
        handlers: [],
      });
    }
  });
});

describe("deliver", () => {
  test("deliver starts the receiver, and works with a fake clock", async () => {
    const clock = fakeClock();
    const receiver = createTestReceiver({ clock, random: () => 0.5 });
    onTestFinished(async () => {
      const stopped = receiver.stop({ timeoutMs: 0 });
      await clock.advance(0);
      await stopped;
    });
    const attempts: number[] = [];
    receiver.on("email.sent", (_, ctx) => {
      attempts.push(ctx.attempt);
      if (ctx.attempt === 1) throw new Error("not now");
    });
    const event = sampleEvent("email.sent");
    const { handlers } = await deliver(receiver, event, { timestamp: clock.now() });
    expect(handlers).toMatchObject([{ state: "retrying", dueAt: isoTime(clock.now() + 10_000) }]);
    await clock.advance(10_000);
    await expect.poll(() => attempts).toEqual([1, 2]);
  });

  test("deliver waits as long as the option says for a slow handler, and then names it", async () => {
    const receiver = stopAfterTest(createTestReceiver());
    receiver.on("email.sent", () => new Promise(() => undefined), { name: "slow" });
    const error: unknown = await deliver(receiver, sampleEvent("email.sent"), { timeoutMs: 30 }).catch(
      (e: unknown) => e,
    );
    expect(error).toMatchObject({ code: "handler_timeout" });
    expect(String(error)).toContain('"slow"');
  });

  test("deliver rejects if the receiver cannot start", async () => {
    const receiver = createTestReceiver({ secrets: () => Promise.reject(new Error("vault is down")) });
    await expect(deliver(receiver, sampleEvent("email.sent"))).rejects.toThrow("vault is down");
    await receiver.stop();
    await expect(deliver(receiver, sampleEvent("email.sent"))).rejects.toMatchObject({ code: "stopped" });
  });

  test("deliver accepts a receiver made by createReceiver with the test secret", async () => {
    const receiver = stopAfterTest(createReceiver({ secrets: TEST_SECRET, store: ":memory:", logger: silent }));
    receiver.on("email.sent", () => undefined);
    expect((await deliver(receiver, sampleEvent("email.sent"))).outcome).toBe("accepted");
  });
});

const silent = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

describe("createTestReceiver", () => {
  test("createTestReceiver opens a new database each time", async () => {
    const event = sampleEvent("email.sent");
    for (let count = 0; count < 2; count += 1) {
      const receiver = stopAfterTest(createTestReceiver());
      expect((await deliver(receiver, event)).outcome).toBe("accepted");
    }
  });

  test("createTestReceiver keeps the types of its schemas", () => {
    const receiver = createTestReceiver({ schemas: { "email.sent": z.object({ n: z.number() }) } });
    receiver.on("email.sent", ({ data }) => expectTypeOf(data).toEqualTypeOf<{ n: number }>());
  });

  test("createTestReceiver lets each of its defaults be replaced", async () => {
    const lines: string[] = [];
    const note = (_: object, message: string): void => void lines.push(message);
    const logger = { debug: note, info: note, warn: note, error: note, child: () => logger };
    const secret = `whsec_${"o".repeat(43)}`;
    const receiver = stopAfterTest(createTestReceiver({ secrets: secret, logger }));
    expect((await deliver(receiver, sampleTestEvent(), { secret })).outcome).toBe("accepted");
    expect((await deliver(receiver, sampleEvent("email.sent"))).outcome).toBe("unverified");
    expect(lines).toContain("test_event");
  });
});

test("an app is tested through supertest in five lines", async () => {
  const receiver = stopAfterTest(createTestReceiver());
  let runs = 0;
  receiver.on("email.sent", () => (runs += 1));
  await receiver.start();
  const app = express().post("/webhooks/mail", receiver.middleware());

  const body = JSON.stringify(sampleEvent("email.sent"));
  const headers = signDelivery({ body, secret: TEST_SECRET });
  await request(app).post("/webhooks/mail").set(headers).type("json").send(body).expect(200);
  await request(app).post("/webhooks/mail").set(headers).type("json").send(`${body} `).expect(503);
  await request(app).post("/webhooks/mail").type("json").send(body).expect(401);
  await expect.poll(() => runs).toBe(1);
});
