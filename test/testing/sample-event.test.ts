import { describe, expect, expectTypeOf, test } from "vitest";
import { envelopeSchema } from "#pigeonhole/protocol/envelope.js";
import { EVENT_TYPES } from "#pigeonhole/protocol/event-types.js";
import { sampleEvent, sampleTestEvent } from "#pigeonhole/sandbox/samples/sample-event.js";

describe.each(EVENT_TYPES)("a sample of %s", (type) => {
  test("a sample is an envelope with data that survives JSON", () => {
    const event = sampleEvent(type);
    expect(event.type).toBe(type);
    expect(event.id).toMatch(/^evt_[0-9a-f]{24}$/);
    expect(Object.keys(event.data).length).toBeGreaterThan(1);
    expect(envelopeSchema.parse(JSON.parse(JSON.stringify(event)))).toEqual(event);
  });
});

describe("the samples together", () => {
  const text = JSON.stringify(EVENT_TYPES.map((type) => sampleEvent(type)));

  test("the samples together name nobody who could exist", () => {
    const hosts = [...text.matchAll(/@([\w.-]+)|https?:\/\/([\w.-]+)/g)].map((match) => match[1] ?? match[2]);
    expect(hosts.length).toBeGreaterThan(50);
    for (const host of hosts) expect(host).toMatch(/(^|\.)example\.com$/);
  });

  test("the samples together have identifiers of the documented shapes", () => {
    const ids = [...text.matchAll(/"((?:file|frm|aud)_[^"]*)"/g)].map((match) => match[1]);
    expect(ids).toHaveLength(7);
    for (const id of ids) expect(id).toMatch(/^(file|frm|aud)_[0-9a-f]{24}$/);
  });
});

describe("a sample", () => {
  test("a sample has an id of its own and a later time than the one before", () => {
    const [first, second] = [sampleEvent("email.sent"), sampleEvent("email.sent")];
    expect(second.id).not.toBe(first.id);
    expect(second.data.messageId).not.toBe(first.data.messageId);
    expect(Date.parse(second.createdAt) - Date.parse(first.createdAt)).toBe(1_000);
  });

  test("a sample of a seed is the same each time, and another one for another seed", () => {
    const one = sampleEvent("email.bounced", {}, { seed: 7 });
    expect(sampleEvent("email.bounced", {}, { seed: 7 })).toEqual(one);
    expect(sampleEvent("email.bounced", {}, { seed: 8 }).id).not.toBe(one.id);
    expect(one).toEqual({
      id: one.id,
      type: "email.bounced",
      createdAt: "2026-01-01T09:00:00.000Z",
      data: expect.objectContaining({ bounce: { kind: "hard", code: "5.1.1", diagnostic: "550 5.1.1 User unknown" } }),
    });
  });

  test("a sample shares its message with a sample of the same seed and another type, and is another event", () => {
    const sent = sampleEvent("email.sent", {}, { seed: "order" });
    const delivered = sampleEvent("email.delivered", {}, { seed: "order" });
    expect(delivered.data.messageId).toBe(sent.data.messageId);
    expect(delivered.id).not.toBe(sent.id);
    expect(sampleTestEvent({ seed: "order" }).id).not.toBe(sent.id);
  });

  test("a sample takes fields of data, one level deep, and their types", () => {
    const event = sampleEvent("email.bounced", { subject: "Hi", bounce: { kind: "soft" }, extra: 1 });
    expect(event.data).toMatchObject({ subject: "Hi", extra: 1, to: ["ada@customer.example.com"] });
    expect(event.data.bounce).toEqual({ kind: "soft" });
    expectTypeOf(event.type).toEqualTypeOf<"email.bounced">();
    expectTypeOf(event.data.bounce).toEqualTypeOf<{ kind: string }>();
    expectTypeOf(event.data.to).toEqualTypeOf<string[]>();
  });

  test("a sample takes an id and a time", () => {
    const createdAt = new Date("2026-02-03T04:05:06.789Z");
    expect(sampleEvent("domain.deleted", {}, { id: "evt_mine", createdAt })).toMatchObject({
      id: "evt_mine",
      createdAt: "2026-02-03T04:05:06.789Z",
    });
  });

  test("a sample is not changed by what was done to another", () => {
    const spoilt = sampleEvent("email.sent");
    spoilt.data.to.push("eve@example.com");
    expect(sampleEvent("email.sent").data.to).toEqual(["ada@customer.example.com"]);
  });
});

test("the test event is an email.sent that says so", () => {
  const event = sampleTestEvent();
  expect(event).toMatchObject({ type: "email.sent", data: { test: true, note: expect.any(String) } });
  expect(envelopeSchema.parse(event)).toEqual(event);
  expect(sampleTestEvent({ seed: "a" }).id).toBe(sampleTestEvent({ seed: "a" }).id);
});
