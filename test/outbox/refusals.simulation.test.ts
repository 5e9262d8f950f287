import { type Client, type ContactEventInput, InvalidInputError, createClient } from "pigeonhole/client";
import { fakeClock } from "pigeonhole/testing";
import { describe, expect, test } from "vitest";
import type { Fault, SentEvent } from "../support/contact-event-service.js";
import { MINUTE, SECOND } from "#pigeonhole/base/duration.js";
import { ada, apiOf, openService, recordAll, startOnFakeClock } from "./outbox-harness.js";
import { callsOf, expectOnce, namesByCall, outboxOf, statesOf } from "./states-of.js";
import { captureLog, decorateStore } from "../support/receiver.js";

describe("a log line about a call of the outbox", () => {
  test.each([
    ["contact_event_dead", "contact_not_found", []],
    ["send_failed", undefined, [{ status: 503 }, { status: 503 }]],
  ])("%s has the key of the one event and the command that shows it", async (message, refusal, faults) => {
    const { logger, named } = captureLog();
    const { service, receiver, turn } = await startOnFakeClock(undefined, { logger });
    service.ruleOf = () => refusal;
    service.faults.push(...faults);
    const { key } = await receiver.contactEvents.record(ada("one"));
    await turn(() => named(message).length > 0, 100);
    expect(named(message)[0]).toMatchObject({ events: 1, key, advice: `npx pigeonhole outbox show ${key}` });
  });

  test("events that a batch refuses have one line for each code, at once", async () => {
    const { logger, named } = captureLog();
    const events = [ada("one"), ada("two"), ada("three"), ada("four")];
    const { service, receiver, deliver, turn } = await startOnFakeClock(recordAll(...events), { logger });
    service.ruleOf = ({ name }) => (name === "one" ? undefined : name === "four" ? "gone" : "contact_not_found");
    await deliver();
    await turn(async () => (await statesOf(receiver)).join() === "done,dead,dead,dead");
    const line = { advice: "npx pigeonhole outbox list --state dead", level: 50 };
    expect(named("contact_event_dead")).toMatchObject([
      { ...line, events: 2, code: "contact_not_found" },
      { ...line, events: 1, code: "gone" },
    ]);
  });
});

describe("a service whose clock is behind ours", () => {
  /** Refuses events of these names as being in the future. */
  const future =
    (...names: string[]) =>
    ({ name }: SentEvent): string | undefined =>
      names.includes(name) ? "invalid_event" : undefined;

  test("a service whose clock is behind gets the newest events of a batch again half a minute later, and the others are done", async () => {
    const { service, receiver, deliver, clock, turn } = await startOnFakeClock(
      recordAll(ada("one"), ada("two"), ada("three")),
    );
    service.ruleOf = future("two", "three");
    await deliver();
    await turn(async () => (await statesOf(receiver)).join() === "done,pending,pending");
    const refusedAt = clock.now();
    service.ruleOf = () => undefined;
    await turn(() => service.calls.length === 2, 100);
    expect(clock.now() - refusedAt).toBeGreaterThanOrEqual(29 * SECOND);
    expect(clock.now() - refusedAt).toBeLessThan(33 * SECOND);
    await turn(async () => (await statesOf(receiver)).join() === "done,done,done");
    expect(namesByCall(service)).toEqual([
      ["one", "two", "three"],
      ["two", "three"],
    ]);
    expectOnce(service, "one", "two", "three");
  });

  test("they wait half a minute also where the store says several times a second that they can be sent", async () => {
    const glance = { requested: false, contactEvents: true, orphans: false, paused: [] };
    const store = decorateStore(() => ({
      glance: ({ handlers }) => Promise.resolve({ ...glance, due: [...handlers] }),
    }));
    const given = { store };
    const { service, receiver, deliver, clock, turn } = await startOnFakeClock(
      recordAll(ada("one"), ada("two")),
      given,
    );
    service.ruleOf = future("two");
    await deliver();
    await turn(async () => (await statesOf(receiver)).join() === "done,pending");
    const refusedAt = clock.now();
    service.ruleOf = () => undefined;
    await turn(() => service.calls.length === 2, 100);
    expect(clock.now() - refusedAt).toBeGreaterThanOrEqual(29 * SECOND);
  });

  test("a batch that may have arrived is repeated unchanged even if the service calls an event of it too new", async () => {
    const { service, receiver, deliver, turn } = await startOnFakeClock(recordAll(ada("one"), ada("two")));
    service.faults.push({ status: 503 });
    service.ruleOf = future("one");
    await deliver();
    await turn(() => service.calls.length === 3, 100);
    expect(await statesOf(receiver)).toEqual(["retrying", "retrying"]);
    service.ruleOf = () => undefined;
    await turn(async () => (await statesOf(receiver)).join() === "done,done", 100);
    expect(new Set(callsOf(service)).size).toBe(1);
    expectOnce(service, "one", "two");
  });

  test("events that the service calls too new are not sent sooner because of new events, which wait behind them", async () => {
    const { service, receiver, deliver, clock, turn } = await startOnFakeClock(recordAll(ada("one"), ada("two")));
    service.ruleOf = future("one", "two");
    await deliver();
    await turn(async () => service.refused.length === 2 && (await statesOf(receiver)).join() === "pending,pending");
    service.ruleOf = () => undefined;
    for (let number = 3; number < 23; number += 1) {
      await receiver.contactEvents.record(ada(`event.${number}`));
      await clock.advance(SECOND);
    }
    expect(service.calls).toHaveLength(1);
    await turn(async () => (await statesOf(receiver)).every((state) => state === "done"), 100);
    expect(service.calls).toHaveLength(2);
    expect(namesByCall(service)[1]?.slice(0, 3)).toEqual(["one", "two", "event.3"]);
  });

  test("a single event that the service calls too new is sent again with its key", async () => {
    const { service, receiver, turn } = await startOnFakeClock();
    service.ruleOf = future("one");
    await receiver.contactEvents.record(ada("one"));
    await turn(() => service.calls.length === 3, 25);
    expect(await statesOf(receiver)).toEqual(["retrying"]);
    service.ruleOf = () => undefined;
    await turn(async () => (await statesOf(receiver)).join() === "done", 25);
    expect(new Set(callsOf(service)).size).toBe(1);
    expectOnce(service, "one");
  });

  test.each([
    ["alone", [ada("one")]],
    ["in a batch", [ada("one"), ada("two")]],
  ])("an event that is still refused after five minutes is dead: %s", async (_, events) => {
    const { service, receiver, deliver, clock, turn } = await startOnFakeClock(recordAll(...events));
    service.ruleOf = future("one", "two");
    const recordedAt = clock.now();
    await deliver();
    await turn(async () => (await receiver.stats()).outbox.dead === events.length, SECOND);
    expect(clock.now() - recordedAt).toBeGreaterThan(5 * MINUTE);
    expect(await outboxOf(receiver)).toMatchObject(events.map(() => ({ reason: "refused", code: "invalid_event" })));
    expect(service.stored).toEqual([]);
  });

  test.each([
    ["alone", [ada("one")]],
    ["in a batch", [ada("one"), ada("two")]],
  ])("an older event that the service calls too new is dead at once: %s", async (_, events) => {
    const clock = fakeClock();
    const occurredAt = new Date(clock.now() - 6 * MINUTE).toISOString();
    const { service, receiver, deliver, turn } = await startOnFakeClock(
      recordAll(...events.map((event) => ({ ...event, occurredAt }))),
      { clock },
    );
    service.ruleOf = future("one", "two");
    await deliver();
    await turn(async () => (await receiver.stats()).outbox.dead === events.length);
    expect(service.calls).toHaveLength(1);
  });
});

test("a single event refused for another field than its time is dead at once, and blocks no other", async () => {
  const { service, receiver, turn } = await startOnFakeClock();
  service.faults.push({ status: 422, code: "invalid_event", param: "properties" });
  await receiver.contactEvents.record(ada("one"));
  await turn(async () => (await statesOf(receiver)).join() === "dead");
  expect((await outboxOf(receiver))[0]).toMatchObject({ code: "invalid_event", param: "properties" });
  await receiver.contactEvents.record(ada("two"));
  await turn(async () => (await statesOf(receiver)).join() === "dead,done");
  expectOnce(service, "two");
});

describe("a batch that is refused whole", () => {
  const three = recordAll(ada("one"), ada("two"), ada("three"));

  test("a batch refused for one event's fields makes that event dead, and the others are sent in another call", async () => {
    const { service, receiver, deliver, turn } = await startOnFakeClock(three);
    service.faults.push({ status: 422, code: "invalid_parameter", param: "events.1.name" });
    await deliver();
    await turn(() => service.calls.length === 2, 100);
    await turn(async () => (await statesOf(receiver)).join() === "done,dead,done");
    expect((await outboxOf(receiver))[1]).toMatchObject({
      reason: "refused",
      code: "invalid_parameter",
      param: "events.1.name",
    });
    expect(namesByCall(service)).toEqual([
      ["one", "two", "three"],
      ["one", "three"],
    ]);
    expect(service.calls[1]?.key).not.toBe(service.calls[0]?.key);
    expectOnce(service, "one", "three");
  });

  test("a batch refused for a time that an earlier try may have passed is only repeated unchanged", async () => {
    const { service, receiver, deliver, turn } = await startOnFakeClock(three);
    service.faults.push("lost", { status: 422, code: "invalid_event", param: "events.1.occurredAt" });
    await deliver();
    await turn(async () => (await statesOf(receiver)).join() === "dead,dead,dead");
    const [one, two] = await outboxOf(receiver);
    expect([one?.reason, two?.reason]).toEqual(["too_old", "too_old"]);
    expect(await receiver.contactEvents.discard(two?.key ?? "")).toBe(true);
    await receiver.contactEvents.retry(one?.key ?? "");
    await turn(async () => (await statesOf(receiver)).join() === "done,done,done");
    expect(new Set(callsOf(service)).size).toBe(1);
    expectOnce(service, "one", "two", "three");
  });

  test.each(["events", "events.7.name", undefined])(
    "a batch refused with the param %j makes all its events dead",
    async (param) => {
      const { service, receiver, deliver, turn } = await startOnFakeClock(three);
      service.faults.push({ status: 422, code: "invalid_parameter", ...(param !== undefined && { param }) });
      await deliver();
      await turn(async () => (await statesOf(receiver)).join() === "dead,dead,dead");
      const [one] = await outboxOf(receiver);
      expect(await receiver.contactEvents.retry(one?.key ?? "")).toBe(true);
      await turn(async () => (await statesOf(receiver)).join() === "done,dead,dead");
      expect(service.calls[1]).toMatchObject({ path: "/v1/events", key: one?.key });
      expectOnce(service, "one");
    },
  );

  test("of a batch refused at its first try for an unknown reason, only what is retried is sent, in a new call", async () => {
    const { service, receiver, deliver, turn } = await startOnFakeClock(three);
    service.faults.push({ status: 422, code: "teapot" });
    await deliver();
    await turn(async () => (await statesOf(receiver)).join() === "dead,dead,dead");
    const [one, two] = await outboxOf(receiver);
    expect(await receiver.contactEvents.discard(two?.key ?? "")).toBe(true);
    expect(await receiver.contactEvents.retry(one?.key ?? "")).toBe(true);
    await turn(async () => (await statesOf(receiver)).join() === "done,discarded,dead");
    expect(namesByCall(service)).toEqual([["one", "two", "three"], ["one"]]);
    expect(service.calls[1]?.key).not.toBe(service.calls[0]?.key);
    expectOnce(service, "one");
  });

  test.each<[string, Fault[], number]>([
    ["after a try of the client that was not answered", ["lost", { status: 422, code: "teapot" }], 1],
    ["because its key is in use", [{ status: 422, code: "idempotency_key_reuse" }], 0],
    ["by a status that is not known", [{ status: 418, code: "teapot" }], 0],
  ])("a batch refused %s is only repeated unchanged", async (_, faults, maxRetries) => {
    const service = await openService();
    const api = { ...apiOf(service), maxRetries };
    const { receiver, deliver, turn } = await startOnFakeClock(three, { service, api });
    service.faults.push(...faults);
    await deliver();
    await turn(async () => (await statesOf(receiver)).join() === "dead,dead,dead", 100);
    await receiver.contactEvents.retry((await outboxOf(receiver))[0]?.key ?? "");
    await turn(async () => (await statesOf(receiver)).join() === "done,done,done", 100);
    expect(new Set(callsOf(service)).size).toBe(1);
    expectOnce(service, "one", "two", "three");
  });

  test.each<[string, ContactEventInput[]]>([
    ["a batch", [ada("one"), ada("two")]],
    ["a single event", [ada("one")]],
  ])(
    "the refused call of %s is only repeated unchanged if the reason says nothing about earlier tries",
    async (_, events) => {
      const names = events.map(({ name }) => name);
      const { service, receiver, deliver, turn } = await startOnFakeClock(recordAll(...events));
      service.faults.push("lost", { status: 418, code: "teapot", param: "pot" });
      await deliver();
      await turn(async () => (await receiver.stats()).outbox.dead === events.length);
      const [first] = await outboxOf(receiver);
      expect(first).toMatchObject({ reason: "refused", code: "teapot", param: "pot" });
      // At once, so that a new call would have room for both.
      const [isRetried] = await Promise.all([
        receiver.contactEvents.retry(first?.key ?? ""),
        receiver.contactEvents.record(ada("new")),
      ]);
      expect(isRetried).toBe(true);
      await turn(async () => (await statesOf(receiver)).every((state) => state === "done"));
      expect(namesByCall(service)).toEqual([names, names, names, ["new"]]);
      expect(new Set(callsOf(service)).size).toBe(2);
      expectOnce(service, ...names, "new");
    },
  );
});

describe("a batch that a newer client refuses", () => {
  /** A client that finds fault with the second event while `isStrict`. */
  async function startStrict() {
    const service = await openService();
    const clock = fakeClock();
    const client = createClient({ ...apiOf(service), clock });
    const rules = { isStrict: true };
    const contactEvents: Client["contactEvents"] = {
      ...client.contactEvents,
      sendBatch(events, options) {
        const index = events.findIndex(({ name }) => name === "two");
        if (!rules.isStrict || index === -1) return client.contactEvents.sendBatch(events, options);
        const fault = { code: "invalid_event", param: `events.${index}.name`, message: "Not any more." } as const;
        return Promise.reject(new InvalidInputError("contactEvents.sendBatch", fault));
      },
    };
    const work = recordAll(ada("one"), ada("two"), ada("three"));
    return { ...(await startOnFakeClock(work, { service, clock, api: { ...client, contactEvents } })), rules };
  }

  test("a batch that a newer client refuses and that was never sent loses the refused event, and the others are sent", async () => {
    const { service, receiver, deliver, turn } = await startStrict();
    await deliver();
    await turn(async () => (await statesOf(receiver)).join() === "done,dead,done", 100);
    expect((await outboxOf(receiver))[1]).toMatchObject({ reason: "refused", param: "events.1.name" });
    expectOnce(service, "one", "three");
  });

  test("a batch that a newer client refuses and that may have arrived is dead as a whole, and only repeated unchanged", async () => {
    const { service, receiver, deliver, turn, rules } = await startStrict();
    rules.isStrict = false;
    service.faults.push("lost");
    await deliver();
    await turn(() => service.calls.length === 1);
    rules.isStrict = true;
    await turn(async () => (await statesOf(receiver)).join() === "dead,dead,dead");
    rules.isStrict = false;
    await receiver.contactEvents.retry((await outboxOf(receiver))[2]?.key ?? "");
    await turn(async () => (await statesOf(receiver)).join() === "done,done,done");
    expect(new Set(callsOf(service)).size).toBe(1);
    expectOnce(service, "one", "two", "three");
  });
});

test("an answer that leaves out an event of its batch counts as no answer, and the call is repeated unchanged", async () => {
  const { service, receiver, deliver, turn } = await startOnFakeClock(recordAll(ada("one"), ada("two")));
  service.faults.push("forgetful");
  await deliver();
  await turn(async () => (await statesOf(receiver)).join() === "done,done");
  expect(service.calls).toHaveLength(2);
  expect(new Set(callsOf(service)).size).toBe(1);
  expectOnce(service, "one", "two");
});

describe("an answer that is caused by the configuration", () => {
  test.each<[string, Fault, string]>([
    ["401", { status: 401 }, "AuthenticationError fault_401"],
    ["403 for a scope", { status: 403, code: "insufficient_scope" }, "PermissionError insufficient_scope"],
    ["404 for the path", { status: 404, code: "resource_not_found" }, "NotFoundError resource_not_found"],
    ["404 of another program", { status: 404, html: "<h1>Not found</h1>" }, "NotFoundError invalid_answer"],
    ["400 of a proxy", { status: 400, html: "<h1>Bad request</h1>" }, "InvalidRequestError invalid_answer"],
    ["405", { status: 405, code: "method_not_allowed" }, "ApiError method_not_allowed"],
    ["a redirect", { status: 302 }, "ApiError redirect_refused"],
  ])(
    "after %s the events wait, an alarm is raised, and they are sent once the cause is fixed",
    async (_, fault, error) => {
      for (const names of [["one"], ["one", "two"]]) {
        const { service, receiver, deliver, alarms, turn } = await startOnFakeClock(
          recordAll(...names.map((name) => ada(name))),
        );
        service.faultOf = () => fault;
        await deliver();
        await turn(() => service.calls.length === 4, 100);
        expect(alarms[0]).toEqual({ kind: "api_refused", error });
        expect(await statesOf(receiver)).toEqual(names.map(() => "retrying"));
        expect((await receiver.stats()).outbox).toMatchObject({ pending: 0, retrying: names.length, dead: 0 });
        service.faultOf = () => undefined;
        await turn(async () => (await statesOf(receiver)).every((state) => state === "done"), 100);
        expect(new Set(callsOf(service)).size).toBe(1);
        expectOnce(service, ...names);
      }
    },
  );
});
