import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import type { AnyEvent, Handler } from "pigeonhole";
import { InvalidInputError, createClient } from "pigeonhole/client";
import { describe, expect, test } from "vitest";
import { captureLog } from "../support/capture-log.js";
import { effectsIn, storeIn, tempFileWithTable } from "../support/store-in.js";
import { untilWork } from "../support/receiver.js";
import { postUntil, startReceiver } from "../support/start-receiver.js";
import { ada, apiOf, openService, recordAll, start, startOnFakeClock } from "./outbox-harness.js";
import { namesIn, outboxOf, statesOf, untilStates } from "./states-of.js";
import { errorOf } from "../support/error-of.js";

test("the outbox keeps the name of an apiKey function's error, and not its message", async () => {
  const service = await openService();
  const apiKey = (): Promise<string> => Promise.reject(new RangeError("The vault refused token hunter2."));
  const { receiver } = await start({ service, api: { ...apiOf(service), apiKey } });
  await receiver.contactEvents.record(ada("order.shipped"), { key: "1" });
  await expect.poll(async () => (await outboxOf(receiver))[0]?.error).toMatch(/^RangeError: The call was not sent/);
  expect(inspect(await outboxOf(receiver), { depth: 9 })).not.toContain("hunter2");
});

describe("contact events of a handler", () => {
  test("a handler's event is stored with the done mark and sent once", async () => {
    const { service, receiver, deliver } = await start({
      work: ({ contactEvents }) => contactEvents.record({ ...ada("order.shipped"), properties: { order: "1042" } }),
    });
    const id = await deliver();
    await untilWork(receiver, id, { state: "done" });
    await untilStates(receiver, "done");
    expect(service.stored).toHaveLength(1);
    expect(service.stored[0]?.event).toMatchObject({ ...ada("order.shipped"), properties: { order: "1042" } });
    expect(service.calls).toHaveLength(1);
    expect(service.calls[0]).toMatchObject({ path: "/v1/events", authorization: "Bearer svc_test_outbox" });
    const [view] = await outboxOf(receiver);
    expect(view).toMatchObject({ remoteId: service.stored[0]?.id, key: service.calls[0]?.key });
    expect((await receiver.stats()).outbox).toEqual({ pending: 0, running: 0, retrying: 0, dead: 0, oldestAgeMs: 0 });
  });

  test("a handler's event is not sent if the handler throws afterwards", async () => {
    const { service, receiver, deliver } = await start({
      retry: { maxAttempts: 2, initialMs: 20 },
      work({ contactEvents }) {
        contactEvents.record(ada("order.shipped"));
        throw new Error("too bad");
      },
    });
    await untilWork(receiver, await deliver(), { state: "dead" });
    expect(await outboxOf(receiver)).toEqual([]);
    expect(service.calls).toEqual([]);
  });

  test("a handler's event is stored with ctx.commit, or not at all", async () => {
    const file = tempFileWithTable();
    const { service, receiver, deliver } = await start({
      store: storeIn(file),
      work({ attempt, contactEvents, commit }) {
        contactEvents.record(ada(`attempt.${attempt}`));
        return commit(({ db }) => {
          db.prepare("INSERT INTO effect VALUES (?)").run(`attempt ${attempt}`);
          if (attempt === 1) throw new Error("too bad");
        });
      },
    });
    await untilWork(receiver, await deliver(), { state: "done", attempts: 2 });
    await untilStates(receiver, "done");
    expect(namesIn(service)).toEqual(["attempt.2"]);
    expect(effectsIn(file)).toEqual(["attempt 2"]);
  });

  test("an event may have occurred while the handler ran", async () => {
    const times: string[] = [];
    const { service, receiver, deliver } = await start({
      async work({ contactEvents }) {
        await sleep(20);
        times.push(new Date().toISOString());
        contactEvents.record({ ...ada("order.shipped"), occurredAt: times[0] ?? "" });
      },
    });
    await deliver();
    await untilStates(receiver, "done");
    expect(service.stored.map(({ event }) => event.occurredAt)).toEqual(times);
  });

  test.each([
    ["null", null],
    ["a number", 5],
    ["a list", ["order.shipped", "ada@example.com"]],
  ])("a key that is no text is refused: %s", async (_, key) => {
    let thrown: unknown;
    const { receiver, deliver } = await start({
      async work({ contactEvents }) {
        thrown = await errorOf(() => contactEvents.record(ada("order.shipped"), { key: key as never }));
      },
    });
    await untilWork(receiver, await deliver(), { state: "done" });
    expect(thrown).toMatchObject({ code: "invalid_argument" });
    const outside = await errorOf(() => receiver.contactEvents.record(ada("order.shipped"), { key: key as never }));
    expect(outside).toMatchObject({ code: "invalid_argument" });
    expect(await outboxOf(receiver)).toEqual([]);
  });

  test("an event has a key made of name and contact, or of its label", async () => {
    const { service, receiver, deliver } = await start({
      work({ contactEvents }) {
        contactEvents.record(ada("order.shipped"));
        contactEvents.record(ada("order.shipped"));
        contactEvents.record(ada("order.shipped"), { key: "first" });
        contactEvents.record(ada("order.shipped"), { key: "second" });
        contactEvents.record(ada("order.paid"));
        contactEvents.record({ ...ada("order.shipped"), email: "bob@example.com" });
      },
    });
    await deliver();
    await untilStates(receiver, "done", "done", "done", "done", "done");
    expect(new Set((await outboxOf(receiver)).map(({ key }) => key)).size).toBe(5);
    expect(service.stored).toHaveLength(5);
    expect(service.calls.map(({ path }) => path)).toEqual(["/v1/events/batch"]);
  });

  test("another event with the same key is a conflict", async () => {
    let thrown: unknown;
    const { receiver, deliver } = await start({
      retry: { maxAttempts: 1 },
      async work({ contactEvents }) {
        contactEvents.record({ ...ada("order.shipped"), properties: { order: 1 } });
        thrown = await errorOf(() => contactEvents.record({ ...ada("order.shipped"), properties: { order: 2 } }));
        throw thrown;
      },
    });
    await untilWork(receiver, await deliver(), { state: "dead" });
    expect(thrown).toMatchObject({ code: "key_conflict" });
  });

  test("an event recorded after the handler has returned is refused, because it would not be stored", async () => {
    let late: Promise<unknown> | undefined;
    const { receiver, deliver } = await start({
      work({ contactEvents }) {
        contactEvents.record(ada("order.shipped"));
        late = sleep(50).then(() => errorOf(() => contactEvents.record(ada("order.paid"))));
      },
    });
    await untilWork(receiver, await deliver(), { state: "done" });
    expect(await late).toMatchObject({ code: "run_ended" });
    expect(await outboxOf(receiver)).toHaveLength(1);
  });

  test("an event recorded inside a step is kept for the attempts that skip the step", async () => {
    let steps = 0;
    const { service, receiver, deliver } = await start({
      async work({ attempt, step, contactEvents }) {
        contactEvents.record(ada("order.seen"));
        const total = await step("charge", () => {
          steps += 1;
          contactEvents.record(ada("order.paid"), { key: "first" });
          contactEvents.record({ ...ada("order.paid"), occurredAt: new Date(Date.now() - 1_000).toISOString() });
          return 5;
        });
        expect(total).toBe(5);
        if (attempt < 3) throw new Error("not yet");
        contactEvents.record(ada("order.sent"));
      },
    });
    await untilWork(receiver, await deliver(), { state: "done", attempts: 3 });
    await untilStates(receiver, "done", "done", "done", "done");
    expect(steps).toBe(1);
    expect(namesIn(service)).toEqual(["order.seen", "order.paid", "order.paid", "order.sent"]);
  });

  test("an event recorded next to a step in every attempt is one event", async () => {
    const { service, receiver, deliver } = await start({
      async work({ attempt, step, contactEvents }) {
        const charged = step("charge", () => sleep(20));
        await sleep(5);
        contactEvents.record(ada("order.paid"));
        await charged;
        if (attempt < 3) throw new Error("not yet");
      },
    });
    await untilWork(receiver, await deliver(), { state: "done", attempts: 3 });
    await untilStates(receiver, "done");
    expect(namesIn(service)).toEqual(["order.paid"]);
  });

  test("an event recorded in a step that a later attempt does not await is refused with an error", async () => {
    const { logger, named } = captureLog();
    const { receiver, deliver } = await start({
      logger,
      async work({ attempt, step, contactEvents }) {
        const paid = step("charge", () => contactEvents.record(ada("order.paid")));
        if (attempt > 1) return;
        await paid;
        throw new Error("not yet");
      },
    });
    await untilWork(receiver, await deliver(), { state: "done", attempts: 2 });
    await expect.poll(() => named("record_refused").length).toBe(1);
    expect(await outboxOf(receiver)).toEqual([]);
  });

  test("an event recorded in a step conflicts with another one of its key in a later attempt", async () => {
    const codes: unknown[] = [];
    const { receiver, deliver } = await start({
      async work({ attempt, step, contactEvents }) {
        await step("charge", () => contactEvents.record(ada("order.paid"), { key: "mine" }));
        if (attempt === 1) throw new Error("not yet");
        const error = await errorOf(() => contactEvents.record(ada("order.sent"), { key: "mine" }));
        codes.push(error.code);
      },
    });
    await untilWork(receiver, await deliver(), { state: "done", attempts: 2 });
    expect(codes).toEqual(["key_conflict"]);
  });

  test("an event has the same key in every run", async () => {
    const keys: string[] = [];
    const { receiver, deliver } = await start({
      work({ attempt, idempotencyKey, contactEvents }) {
        keys.push(idempotencyKey("welcome"));
        contactEvents.record(ada("order.shipped"), { key: "welcome" });
        if (attempt < 3) throw new Error("not yet");
      },
    });
    await untilWork(receiver, await deliver(), { state: "done", attempts: 3 });
    const [view] = await outboxOf(receiver);
    expect(keys).toEqual([view?.key, view?.key, view?.key]);
  });

  test("recording an event requires the option api", async () => {
    let thrown: unknown;
    const record: Handler<AnyEvent> = async (_, { contactEvents }) => {
      thrown = await errorOf(() => contactEvents.record(ada("order.shipped")));
    };
    const receiver = await startReceiver({}, { "email.sent": record });
    await postUntil(receiver, { state: "done" });
    expect(thrown).toMatchObject({ code: "api_not_configured" });
    const outside = await errorOf(() => receiver.contactEvents.record(ada("order.shipped")));
    expect(outside).toMatchObject({ code: "api_not_configured" });
  });
});

describe("receiver.contactEvents.record", () => {
  test("receiver.contactEvents.record stores one event per key and refuses another event with the same key", async () => {
    const { service, receiver } = await start();
    const first = await receiver.contactEvents.record(ada("order.shipped"), { key: "order 1042" });
    const second = await receiver.contactEvents.record(ada("order.shipped"), { key: "order 1042" });
    expect(first.isNew).toBe(true);
    expect(second).toEqual({ key: first.key, isNew: false });
    const other = await errorOf(() => receiver.contactEvents.record(ada("order.paid"), { key: "order 1042" }));
    expect(other.code).toBe("key_conflict");
    await untilStates(receiver, "done");
    expect(namesIn(service)).toEqual(["order.shipped"]);
  });

  test("receiver.contactEvents.record treats an event with reordered properties as the same", async () => {
    const { receiver } = await start();
    const record = (properties: Record<string, unknown>) =>
      receiver.contactEvents.record({ ...ada("order.shipped"), properties: properties as never }, { key: "1042" });
    const first = await record({ order: 1, lines: [{ a: 1, b: 2 }] });
    expect(await record({ lines: [{ b: 2, a: 1 }], order: 1 })).toEqual({ key: first.key, isNew: false });
    expect((await errorOf(() => record({ lines: [{ b: 2, a: 3 }], order: 1 }))).code).toBe("key_conflict");
  });

  test("receiver.contactEvents.record rejects an invalid event", async () => {
    const { receiver } = await start();
    const error = await errorOf(() => receiver.contactEvents.record({ name: "order.shipped" }));
    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toMatchObject({ code: "invalid_event", param: "email" });
  });
});

test.each([
  ["503", { status: 503 }, 800],
  ["429 with Retry-After", { status: 429, retryAfter: "7" }, 7_000],
  ["503 with Retry-After", { status: 503, retryAfter: "30" }, 30_000],
])("a call is repeated unchanged after the wait that %s asks for", async (_, fault, waitMs) => {
  const { service, receiver, deliver, clock, turn } = await startOnFakeClock(
    recordAll(ada("one"), ada("two"), ada("three")),
  );
  service.faults.push(fault);
  await deliver();
  await turn(() => service.calls.length === 1);
  await turn(async () => (await receiver.stats()).outbox.retrying === 3);
  const failedAt = clock.now();
  await receiver.contactEvents.record(ada("four"));
  await clock.advance(waitMs - 200);
  expect(service.calls).toHaveLength(1);
  await turn(() => service.calls.length >= 2, 25);
  expect(clock.now() - failedAt).toBeGreaterThanOrEqual(waitMs - 200);
  await turn(() => service.calls.length >= 3);
  const [first, second, third] = service.calls;
  expect(second).toMatchObject({ path: first?.path, key: first?.key, body: first?.body });
  expect(third?.path).toBe("/v1/events");
  await turn(async () => (await statesOf(receiver)).every((state) => state === "done"));
  expect(namesIn(service)).toEqual(["one", "two", "three", "four"]);
});

test("the events of a batch that the service refuses are dead one by one, and can be sent again", async () => {
  const nobody = { name: "two", email: "nobody@example.com" };
  const { service, receiver, deliver } = await start({ work: recordAll(ada("one"), nobody, ada("three")) });
  await deliver();
  await untilStates(receiver, "done", "dead", "done");
  const [, dead = expect.unreachable()] = await outboxOf(receiver);
  expect(dead).toMatchObject({ reason: "refused", code: "contact_not_found", remoteId: null });
  expect(dead.message).toContain("The service says contact_not_found.");
  expect(namesIn(service)).toEqual(["one", "three"]);
  service.contacts.add(nobody.email);
  expect(await receiver.contactEvents.retry(dead.key)).toBe(true);
  await untilStates(receiver, "done", "done", "done");
  expect(namesIn(service)).toEqual(["one", "three", "two"]);
  expect(await receiver.contactEvents.retry(dead.key)).toBe(false);
});

test("the service of these tests refuses other contact events, or another order, under the same key", async () => {
  const service = await openService();
  const { contactEvents } = createClient(apiOf(service));
  const [one, two] = [ada("one"), ada("two")];
  const options = { idempotencyKey: "batch-1" };
  for (const isRepeated of [false, true]) {
    const { accepted } = await contactEvents.sendBatch([one, two], options);
    expect(accepted.map(({ replayed }) => replayed)).toEqual([isRepeated, isRepeated]);
    expect(await contactEvents.send(one, { idempotencyKey: "one" })).toMatchObject({ replayed: isRepeated });
  }
  const { failed } = await contactEvents.sendBatch([two, one], options);
  expect(failed.map(({ code }) => code)).toEqual(["idempotency_key_reuse", "idempotency_key_reuse"]);
  const other = await errorOf(() => contactEvents.send(two, { idempotencyKey: "one" }));
  expect(other).toMatchObject({ status: 422, code: "idempotency_key_reuse" });
  expect(service.stored).toHaveLength(3);
});
