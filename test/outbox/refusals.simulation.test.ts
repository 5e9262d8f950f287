import { fakeClock } from "pigeonhole/testing";
import { describe, expect, test } from "vitest";
import type { SentEvent } from "../support/contact-event-service.js";
import { MINUTE, SECOND } from "#pigeonhole/base/duration.js";
import { ada, recordAll, startOnFakeClock } from "./outbox-harness.js";
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

  test("events of a batch that are older than the clocks may differ are dead at once", async () => {
    const clock = fakeClock();
    const occurredAt = new Date(clock.now() - 6 * MINUTE).toISOString();
    const events = ["one", "two"].map((name) => ({ ...ada(name), occurredAt }));
    const { service, receiver, deliver, turn } = await startOnFakeClock(recordAll(...events), { clock });
    service.ruleOf = future("one", "two");
    await deliver();
    await turn(async () => (await receiver.stats()).outbox.dead === events.length);
    expect(service.calls).toHaveLength(1);
  });
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

test("while the API refuses the key, the events wait with an alarm, and are sent once that is fixed", async () => {
  const { service, receiver, deliver, alarms, turn } = await startOnFakeClock(recordAll(ada("one"), ada("two")));
  service.faultOf = () => ({ status: 401 });
  await deliver();
  await turn(() => service.calls.length === 4, 100);
  expect(alarms[0]).toEqual({ kind: "api_refused", error: "AuthenticationError fault_401" });
  expect((await receiver.stats()).outbox).toMatchObject({ pending: 0, retrying: 2, dead: 0 });
  service.faultOf = () => undefined;
  await turn(async () => (await statesOf(receiver)).every((state) => state === "done"), 100);
  expect(new Set(callsOf(service)).size).toBe(1);
  expectOnce(service, "one", "two");
});
