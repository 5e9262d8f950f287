import { fakeClock } from "pigeonhole/testing";
import { describe, expect, test } from "vitest";
import { captureLog, decorateStore, makeEvent, post, tempFile } from "../support/receiver.js";
import { measureSlowness } from "../support/slowness.js";
import { startReceiver } from "../support/start-receiver.js";
import { DAY, HOUR, MINUTE, SECOND } from "#pigeonhole/base/duration.js";
import { ada, apiOf, openService, recordAll, start, startOnFakeClock, turn } from "./outbox-harness.js";
import { callsOf, expectOnce, namesByCall, namesIn, outboxOf, statesOf, untilStates } from "./states-of.js";

test.each([
  ["an event", [ada("one")]],
  ["a batch", [ada("one"), ada("two")]],
])("%s that is too old by our clock is sent unchanged all the same: the service judges", async (_, events) => {
  const { service, receiver, deliver, clock, turn } = await startOnFakeClock(recordAll(...events));
  service.faults.push("lost", { status: 409 });
  await deliver();
  await turn(() => service.calls.length === 1);
  clock.set(clock.now() + 91 * DAY);
  await turn(async () => (await statesOf(receiver)).every((state) => state === "done"), SECOND);
  expect(service.calls).toHaveLength(3);
  expect(new Set(callsOf(service)).size).toBe(1);
  expectOnce(service, ...events.map(({ name }) => name));
});

test("others pass an event that makes the API answer 500 after most of an hour, and it is tried further", async () => {
  const { service, receiver, clock, turn } = await startOnFakeClock();
  service.faultOf = (body) => (body.includes("poison") ? { status: 500 } : undefined);
  await receiver.contactEvents.record(ada("poison"));
  await turn(() => service.calls.length === 1);
  const failingSince = clock.now();
  await receiver.contactEvents.record(ada("other"));
  await turn(() => service.stored.length === 1, 20 * SECOND);
  expect(clock.now() - failingSince).toBeGreaterThan(30 * MINUTE);
  expect(clock.now() - failingSince).toBeLessThan(HOUR + 5 * MINUTE);
  const passedAt = clock.now();
  await receiver.contactEvents.record(ada("third"));
  await turn(() => service.stored.length === 2, SECOND);
  expect(clock.now() - passedAt).toBeLessThan(MINUTE);
  service.faultOf = () => undefined;
  await turn(() => service.stored.length === 3, MINUTE);
  expectOnce(service, "other", "third", "poison");
});

describe("the wait that the service asks for", () => {
  test.each(["999999999", "Wed, 21 Oct 2099 07:28:00 GMT"])(
    "the outbox waits as long as the service asks, but for a day at most: %s",
    async (retryAfter) => {
      const { service, receiver, clock, turn } = await startOnFakeClock();
      service.faults.push({ status: 429, retryAfter });
      await receiver.contactEvents.record(ada("one"));
      await turn(() => service.calls.length === 1);
      const askedAt = clock.now();
      // An hour at both ends only: the store is looked at every second.
      await turn(() => clock.now() > askedAt + HOUR, MINUTE);
      clock.set(askedAt + DAY - HOUR);
      await turn(() => service.calls.length === 2, MINUTE);
      expect(clock.now() - askedAt).toBeGreaterThan(DAY - MINUTE);
      expect(clock.now() - askedAt).toBeLessThan(DAY + 5 * MINUTE);
      await turn(async () => (await statesOf(receiver)).join() === "done");
      expectOnce(service, "one");
    },
  );
});

test("a batch that the rate limit delays for most of an hour is settled after its first call", async () => {
  const service = await openService();
  const clock = fakeClock();
  const names = Array.from({ length: 60 }, (_, index) => `event.${index}`);
  const api = { ...apiOf(service), eventsPerMinute: 2 };
  const { receiver, deliver, turn } = await startOnFakeClock(recordAll(...names.map((name) => ada(name))), {
    service,
    clock,
    api,
  });
  await deliver();
  const isSettled = (states: string[]) => states.length === names.length && states.every((state) => state === "done");
  await turn(async () => isSettled(await statesOf(receiver)), 30 * SECOND);
  expect(namesByCall(service)).toEqual([names]);
});

describe("an answer that the store fails to write", () => {
  const startWith = async (fails: () => boolean) => {
    const { logger, named } = captureLog();
    const store = decorateStore((real) => ({
      settleSend: (settlement) => (fails() ? Promise.reject(new Error("no")) : real.settleSend(settlement)),
    }));
    const started = await startOnFakeClock(undefined, { store, logger });
    await started.receiver.contactEvents.record(ada("one"));
    await started.turn(() => named("outbox_settle_waits").length > 0);
    return { ...started, named };
  };

  test("an answer that the store fails to write is written again until it succeeds, whatever the error", async () => {
    let left = 3;
    const { service, receiver, clock, turn } = await startWith(() => left-- > 0);
    const began = clock.now();
    await turn(async () => (await statesOf(receiver)).join() === "done", 100);
    expect(clock.now() - began).toBeLessThan(MINUTE);
    expect(service.calls).toHaveLength(1);
  });

  test("an answer that the store fails to write does not delay stop(), which leaves no timer and records no failure", async () => {
    const { receiver, clock, named } = await startWith(() => true);
    await receiver.stop();
    expect([clock.pendingTimers, named("outbox_failed")]).toEqual([0, []]);
  });
});

describe("order and size", () => {
  test("more than 100 records are sent in calls of at most 100, in the order of recording", async () => {
    const names = Array.from({ length: 250 }, (_, index) => `event.${index}`);
    const { service, receiver, deliver } = await start({ work: recordAll(...names.map((name) => ada(name))) });
    await deliver();
    await expect.poll(() => service.stored.length).toBe(250);
    await expect.poll(async () => (await receiver.stats()).outbox.running).toBe(0);
    expect(namesByCall(service).map(({ length }) => length)).toEqual([100, 100, 50]);
    expect(namesIn(service)).toEqual(names);
  });

  test("the events of each contact arrive in the order of recording, whatever happens to those of another", async () => {
    const { service, receiver, clock, turn } = await startOnFakeClock();
    let requests = 0;
    service.faultOf = () => {
      requests += 1;
      return requests % 2 === 1 ? "lost" : undefined;
    };
    const emails = ["ada@example.com", "nobody@example.com", "bob@example.com"];
    for (let number = 0; number < 8; number += 1) {
      for (const email of emails) await receiver.contactEvents.record({ name: `event.${number}`, email });
      await clock.advance(200);
    }
    await turn(async () => (await statesOf(receiver)).every((state) => state === "done" || state === "dead"));
    expect(service.calls.length).toBeGreaterThan(4);
    const inOrder = Array.from({ length: 8 }, (_, number) => `event.${number}`);
    for (const email of ["ada@example.com", "bob@example.com"]) {
      expect(service.stored.flatMap(({ event }) => (event.email === email ? [event.name] : []))).toEqual(inOrder);
    }
    expect((await receiver.stats()).outbox).toMatchObject({ pending: 0, running: 0, dead: 8 });
  });
});

test.each([
  ["with different names send two events", "support", 2],
  ["with the same name send the same event", "billing", 1],
])("two receivers of one event with one API key %s", async (_, other, count) => {
  const service = await openService();
  const event = makeEvent();
  const keys = new Set<string | undefined>();
  const occurredAt = new Date(Date.now() - MINUTE).toISOString();
  for (const name of ["billing", other]) {
    const receiver = await startReceiver(
      { api: apiOf(service), name },
      { "email.sent": (_event, { contactEvents }) => contactEvents.record({ ...ada("order.shipped"), occurredAt }) },
    );
    await post(receiver, event);
    await untilStates(receiver, "done");
    keys.add((await outboxOf(receiver))[0]?.key);
  }
  expect([keys.size, service.calls.length]).toEqual([count, 2]);
  expectOnce(service, ...Array.from(keys, () => "order.shipped"));
});

describe("stop", () => {
  test.each([
    ["a single event", ["one"]],
    ["a batch", ["one", "two"]],
  ])("stop() breaks off a call under way, and the next process repeats it unchanged: %s", async (_, names) => {
    const service = await openService();
    service.faults.push("held");
    const store = tempFile();
    const { logger, named } = captureLog();
    const work = recordAll(...names.map((name) => ada(name)));
    const { receiver, deliver } = await start({ service, store, logger, work });
    await deliver();
    await expect.poll(() => service.stored.length).toBe(names.length);
    const begunAt = Date.now();
    await receiver.stop();
    expect(Date.now() - begunAt).toBeLessThan(4_000 * measureSlowness());
    // No failure, after which it would have to wait.
    expect(named("send_failed")).toEqual([]);

    const next = await startReceiver({ api: apiOf(service), store });
    await untilStates(next, ...names.map(() => "done"));
    expect(service.calls).toHaveLength(2);
    expect(new Set(callsOf(service)).size).toBe(1);
    expectOnce(service, ...names);
  });

  test("stop() and start() do not shorten the wait that the service asked for", async () => {
    const service = await openService();
    const clock = fakeClock();
    service.faults.push({ status: 429, retryAfter: "600" });
    const store = tempFile();
    const { logger, named } = captureLog();
    const first = await startOnFakeClock(undefined, { service, store, clock, logger });
    await first.receiver.contactEvents.record(ada("one"));
    await first.turn(() => named("send_failed").length === 1);
    const failedAt = clock.now();
    await first.receiver.stop();

    const next = await startReceiver({ api: apiOf(service), store, clock });
    await next.contactEvents.record(ada("two"));
    await turn(clock, () => service.calls.length === 2, SECOND);
    expect(clock.now() - failedAt).toBeGreaterThanOrEqual(599 * SECOND);
    await turn(clock, async () => (await statesOf(next)).join() === "done,done");
    expect(namesByCall(service)).toEqual([["one"], ["one"], ["two"]]);
  });
});

describe("while a call waits for its next try", () => {
  test("an event recorded while a call waits for its next try does not query the store, and is sent after the wait", async () => {
    const service = await openService();
    const clock = fakeClock();
    service.faults.push({ status: 429, retryAfter: "600" });
    let looks = 0;
    const store = decorateStore((real) => ({ leaseSend: (request) => ((looks += 1), real.leaseSend(request)) }));
    const { logger, named } = captureLog();
    const { receiver, turn: turnUntil } = await startOnFakeClock(undefined, { service, store, clock, logger });
    await receiver.contactEvents.record(ada("first"));
    await turnUntil(() => named("send_failed").length === 1);
    await receiver.contactEvents.list();
    const before = looks;
    for (let index = 0; index < 20; index += 1) await receiver.contactEvents.record(ada(`n${index}`));
    expect(looks - before).toBeLessThanOrEqual(1);
    await turn(clock, async () => (await statesOf(receiver)).every((state) => state === "done"), SECOND);
    expect(service.calls).toHaveLength(3);
  });
});
