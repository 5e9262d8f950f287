import { describe, expect, expectTypeOf, test } from "vitest";
import { envelopeSchema } from "#pigeonhole/protocol/envelope.js";
import { EVENT_TYPES } from "#pigeonhole/protocol/event-types.js";
import { sampleEvent, sampleTestEvent } from "#pigeonhole/sandbox/samples/sample-event.js";

describe.each(EVENT_TYPES)("a sample of %s", (type) => {
  test("a sample is an envelope with data that JSON keeps unchanged", () => {
    const event = sampleEvent(type);
    expect(event.type).toBe(type);
    expect(event.id).toMatch(/^evt_[0-9a-f]{24}$/);
    expect(Object.keys(event.data).length).toBeGreaterThan(1);
    expect(envelopeSchema().parse(JSON.parse(JSON.stringify(event)))).toEqual(event);
  });
});

describe("the samples together", () => {
  const text = JSON.stringify(EVENT_TYPES.map((type) => sampleEvent(type)));

  test("the samples contain no names of existing people or domains", () => {
    const hosts = [...text.matchAll(/@([\w.-]+)|https?:\/\/([\w.-]+)/g)].map((match) => match[1] ?? match[2]);
    expect(hosts.length).toBeGreaterThan(50);
    for (const host of hosts) expect(host).toMatch(/(^|\.)example\.com$/);
  });

  test("the samples have identifiers of the documented forms", () => {
    const ids = [...text.matchAll(/"((?:file|frm|aud)_[^"]*)"/g)].map((match) => match[1]);
    expect(ids).toHaveLength(7);
    for (const id of ids) expect(id).toMatch(/^(file|frm|aud)_[0-9a-f]{24}$/);
  });
});

describe("a sample", () => {
  test("a sample has its own id and a later time than the previous one", () => {
    const [first, second] = [sampleEvent("email.sent"), sampleEvent("email.sent")];
    expect(second.id).not.toBe(first.id);
    expect(second.data.messageId).not.toBe(first.data.messageId);
    expect(Date.parse(second.createdAt) - Date.parse(first.createdAt)).toBe(1_000);
  });

  test("a sample of a seed is the same each time, and differs from one of another seed", () => {
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

  test("a sample can be given fields of data, one level deep, and checks their types", () => {
    const event = sampleEvent("email.bounced", { subject: "Hi", bounce: { kind: "soft" }, extra: 1 });
    expect(event.data).toMatchObject({ subject: "Hi", extra: 1, to: ["ada@customer.example.com"] });
    expect(event.data.bounce).toEqual({ kind: "soft" });
    expectTypeOf(event.type).toEqualTypeOf<"email.bounced">();
    expectTypeOf(event.data.bounce).toEqualTypeOf<{ kind: string }>();
    expectTypeOf(event.data.to).toEqualTypeOf<string[]>();
  });

  test("a sample can be given an id and a time", () => {
    const createdAt = new Date("2026-02-03T04:05:06.789Z");
    expect(sampleEvent("domain.deleted", {}, { id: "evt_mine", createdAt })).toMatchObject({
      id: "evt_mine",
      createdAt: "2026-02-03T04:05:06.789Z",
    });
  });

  test("a sample is not affected by changes to another one", () => {
    const spoilt = sampleEvent("email.sent");
    spoilt.data.to.push("eve@example.com");
    expect(sampleEvent("email.sent").data.to).toEqual(["ada@customer.example.com"]);
  });
});

test("the test event is an email.sent that is marked as a test", () => {
  const event = sampleTestEvent();
  expect(event).toMatchObject({ type: "email.sent", data: { test: true, note: expect.any(String) } });
  expect(envelopeSchema().parse(event)).toEqual(event);
  expect(sampleTestEvent({ seed: "a" }).id).toBe(sampleTestEvent({ seed: "a" }).id);
});
