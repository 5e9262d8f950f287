import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  EVENT_ISSUE_CODES,
  EVENT_LIMITS,
  checkContactEvent,
  contactEventInput,
} from "#pigeonhole/contract/contact-event.js";
import { CONTRACT } from "#pigeonhole/contract/contract.js";
import { checkInput } from "#pigeonhole/contract/check-input.js";
import { idempotencyKey } from "#pigeonhole/contract/shapes.js";
import { readPlainContactEvent } from "#pigeonhole/contract/plain-contact-event.js";

const NOW = Date.UTC(2026, 5, 1);
const DAY = 86_400_000;
const event = { name: "order.shipped", email: "ada@example.com" };

/** "ok", or code and param of the issue. */
function verdict(input: unknown): string {
  const checked = checkContactEvent(input, NOW);
  return checked.ok ? "ok" : `${checked.issue.code} ${checked.issue.param}`;
}

const text = (length: number): string => "x".repeat(length);
const keys = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));
/** Properties of exactly so many bytes: {"p":"…"} is 8 and the text. */
const bytes = (size: number, filler = "x"): object => ({ p: filler.repeat((size - 8) / Buffer.byteLength(filler)) });

describe("the fields of an event", () => {
  test.each([
    ["of one character", { name: "a" }, "ok"],
    ["beginning with a digit", { name: "7" }, "ok"],
    ["with every allowed character", { name: "aZ09.:-_" }, "ok"],
    ["of 100 characters", { name: text(100) }, "ok"],
    ["of 101 characters", { name: text(101) }, "invalid_event name"],
    ["that is empty", { name: "" }, "invalid_event name"],
    ["beginning with a dot", { name: ".a" }, "invalid_event name"],
    ["beginning with a dash", { name: "-a" }, "invalid_event name"],
    ["with a space", { name: "a b" }, "invalid_event name"],
    ["with a slash", { name: "a/b" }, "invalid_event name"],
    ["with an umlaut", { name: "größe" }, "invalid_event name"],
    ["with a line end", { name: "a\n" }, "invalid_event name"],
    ["that is missing", { name: undefined }, "invalid_parameter name"],
    ["that is a number", { name: 5 }, "invalid_parameter name"],
  ])("an event with a name %s is accepted or refused as documented", (_, change, expected) => {
    expect(verdict({ ...event, ...change })).toBe(expected);
  });

  test.each([
    ["50 keys", keys(50), "ok"],
    ["51 keys", keys(51), "invalid_event properties"],
    ["no keys", {}, "ok"],
    ["4096 bytes", bytes(4096), "ok"],
    ["4097 bytes", bytes(4097), "invalid_event properties"],
    ["4096 bytes of two-byte characters", bytes(4096, "é"), "ok"],
    ["4098 bytes of two-byte characters", bytes(4098, "é"), "invalid_event properties"],
    ["nested values", { a: { b: [1, null, true, "x", { c: [] }] } }, "ok"],
    ["a date object", { at: new Date(NOW) }, "invalid_event properties"],
    ["undefined", { a: { b: undefined } }, "invalid_event properties"],
    ["a key __proto__", JSON.parse('{"__proto__":{"a":1}}') as object, "invalid_event properties"],
    ["a key __proto__ further in", { a: JSON.parse('{"__proto__":{"a":1}}') as object }, "ok"],
    // oxlint-disable-next-line no-sparse-arrays -- JSON makes null of the hole
    ["a list with a hole", { a: [, 1] }, "invalid_event properties"],
    ["NaN", { a: [Number.NaN] }, "invalid_event properties"],
    ["a bigint", { a: 1n }, "invalid_event properties"],
    ["a map", { a: new Map() }, "invalid_event properties"],
    ["deep nesting within the size", { a: JSON.parse("[".repeat(2_000) + "]".repeat(2_000)) as unknown }, "ok"],
    ["a list instead", ["a"], "invalid_parameter properties"],
    ["null instead", null, "invalid_parameter properties"],
  ])("an event with properties of %s is accepted or refused as documented", (_, properties, expected) => {
    expect(verdict({ ...event, properties })).toBe(expected);
  });

  test("the schema refuses properties that contain themselves", () => {
    const properties: Record<string, unknown> = {};
    properties["self"] = properties;
    expect(verdict({ ...event, properties })).toBe("invalid_event properties");
  });

  test.each([
    ["now", new Date(NOW).toISOString(), "ok"],
    ["a millisecond ahead", new Date(NOW + 1).toISOString(), "invalid_event occurredAt"],
    ["a millisecond ago", new Date(NOW - 1).toISOString(), "ok"],
    ["exactly 90 days ago", new Date(NOW - 90 * DAY).toISOString(), "ok"],
    ["a millisecond more than 90 days ago", new Date(NOW - 90 * DAY - 1).toISOString(), "invalid_event occurredAt"],
    ["with an offset", "2026-06-01T02:00:00+02:00", "ok"],
    ["with an offset that puts it ahead", "2026-06-01T00:00:00-01:00", "invalid_event occurredAt"],
    ["without a zone", "2026-05-01T00:00:00", "invalid_event occurredAt"],
    ["a date alone", "2026-05-01", "invalid_event occurredAt"],
    ["on a day that does not exist", "2026-04-31T00:00:00Z", "invalid_event occurredAt"],
    ["as a number", NOW, "invalid_parameter occurredAt"],
    ["not given", undefined, "ok"],
  ])("the time of an event, %s, is accepted or refused as documented", (_, occurredAt, expected) => {
    expect(verdict({ ...event, occurredAt })).toBe(expected);
  });

  const byId = { email: undefined, contactId: "c" };
  test.each([
    ["neither email nor contactId", { email: undefined }, "invalid_event email"],
    ["only a contactId", byId, "ok"],
    ["both", { contactId: "c" }, "ok"],
    ["a contactId of 64 characters", { contactId: text(64) }, "ok"],
    ["a contactId of 65 characters", { contactId: text(65) }, "invalid_parameter contactId"],
    ["an empty contactId", { contactId: "" }, "invalid_parameter contactId"],
    ["an address of 320 characters", { email: `${text(64)}@${text(255)}` }, "ok"],
    ["an address of 321 characters", { email: `${text(64)}@${text(256)}` }, "invalid_parameter email"],
    ["an address without @", { email: "ada" }, "invalid_parameter email"],
    ["an address with a space", { email: "ada @example.com" }, "invalid_parameter email"],
    ["createContact and an email", { createContact: true }, "ok"],
    ["createContact and only a contactId", { ...byId, createContact: true }, "invalid_parameter createContact"],
    ["createContact: false and only a contactId", { ...byId, createContact: false }, "ok"],
    ["createContact as text", { createContact: "yes" }, "invalid_parameter createContact"],
    ["a contactName of 200 characters", { contactName: text(200) }, "ok"],
    ["a contactName of 201 characters", { contactName: text(201) }, "invalid_parameter contactName"],
    ["a field that does not exist", { occuredAt: "2026-05-01T00:00:00Z" }, "unknown_parameter occuredAt"],
  ])("an event with %s is accepted or refused as documented", (_, change, expected) => {
    expect(verdict({ ...event, ...change })).toBe(expected);
  });

  test("the schema copies an event, so that a later change of the input changes nothing", () => {
    const input = { ...event, properties: { a: 1 } };
    const checked = checkContactEvent(input, NOW);
    input.name = "other";
    expect(checked).toEqual({ ok: true, value: { ...event, properties: { a: 1 } } });
  });
});

test("an idempotency key has 1 to 255 of the allowed characters, and no other", () => {
  const allowed = new Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-");
  const accepts = (key: string) => idempotencyKey.safeParse(key).success;
  expect([0, 1, 255, 256].filter((length) => accepts(text(length)))).toEqual([1, 255]);
  const units = Array.from({ length: 0x1_00_00 }, (_, code) => String.fromCharCode(code));
  expect(new Set(units.filter((unit) => accepts(`a${unit}`)))).toEqual(allowed);
  expect(new Set(units.filter((unit) => accepts(unit)))).toEqual(allowed);
});

describe("any event that keeps the rules", () => {
  const names = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9.:_-]{0,99}$/);
  const emails = fc.stringMatching(/^[a-z0-9.+]{1,64}@[a-z0-9-]{1,60}\.[a-z]{2,10}$/);
  const properties = fc.dictionary(
    fc.string({ minLength: 1, maxLength: 20 }).filter((key) => key !== "__proto__"),
    fc.jsonValue({ maxDepth: 0 }),
    { maxKeys: 15, noNullPrototype: true },
  );
  const events = fc.record(
    {
      name: names,
      email: emails,
      contactId: fc.string({ minLength: 1, maxLength: 64 }),
      properties,
      occurredAt: fc.integer({ min: NOW - 90 * DAY, max: NOW }).map((ms) => new Date(ms).toISOString()),
      createContact: fc.boolean(),
      contactName: fc.string({ maxLength: 200 }),
    },
    { requiredKeys: ["name", "email"], noNullPrototype: true },
  );

  test("any event that keeps the rules passes unchanged", () => {
    fc.assert(
      fc.property(events, (value) => {
        fc.pre(Buffer.byteLength(JSON.stringify(value.properties ?? {})) <= EVENT_LIMITS.propertyBytes);
        expect(checkContactEvent(value, NOW)).toEqual({ ok: true, value });
      }),
    );
  });

  // Values near the edge of what is read without the schema, own and inherited, and everything else.
  const odd = fc.oneof(
    fc.anything({ withNullPrototype: true, withDate: true, withMap: true, withSparseArray: true }),
    fc.constantFrom("a", "a@b", "a b@c", "ä@b.de", "a@b@c", "", "x".repeat(64), "x".repeat(65), `${"x".repeat(65)}@b`),
    fc.constantFrom(keys(50), keys(51), ...[700, 4096, 4097].map((size) => bytes(size))),
    fc.constantFrom(bytes(660, "\u0000"), bytes(4097, "\u0000"), { [Symbol("a")]: 1 }, JSON.parse('{"__proto__":1}')),
    fc.constantFrom({ a: undefined }, { a: Number.NaN }, { a: Infinity }),
    fc.constantFrom({ a: [1] }, { constructor: "x" }, Object.create({ a: 1 }), new Date(0), { toJSON: 1 }, { a: -0 }),
    names,
    emails,
    properties,
  );
  const fields = fc.constantFrom("name", "email", "contactId", "properties", "occurredAt", "toString", "__proto__");

  test("the check by hand accepts an event only if the schema does", () => {
    let read = 0;
    fc.assert(
      fc.property(events, fc.array(fc.tuple(fields, odd), { maxLength: 2 }), fc.boolean(), (value, changes, isBare) => {
        const event: object = isBare ? { name: value.name, email: value.email } : value;
        for (const [field, change] of changes) {
          Object.defineProperty(event, field, { value: change, enumerable: true, writable: true, configurable: true });
        }
        const plain = readPlainContactEvent(event);
        if (plain === undefined) return;
        read += 1;
        const bySchema = checkInput(contactEventInput(), event, EVENT_ISSUE_CODES);
        expect(bySchema).toStrictEqual({ ok: true, value: plain });
        // The bytes are what is compared and sent.
        if (bySchema.ok) expect(JSON.stringify(plain)).toBe(JSON.stringify(bySchema.value));
      }),
      { numRuns: 1_000 },
    );
    expect(read).toBeGreaterThan(100);
  });

  test("the check never throws, whatever a field contains", () => {
    const names = fc.constantFrom("name", "email", "properties", "occurredAt", "x");
    fc.assert(
      fc.property(events, names, fc.anything(), (value, field, any) => {
        const checked = checkContactEvent({ ...value, [field]: any }, NOW);
        if (checked.ok) expect(() => JSON.stringify(checked.value)).not.toThrow();
        else expect(["", "createContact", field]).toContain(checked.issue.param.split(".")[0]);
      }),
    );
  });
});

const spellings = ["Ada@Example.com", " ada@example.com", "ada@example.com\n"];
test.each(spellings)("the address %j of an event is read as the service keeps it", (email) => {
  expect(checkContactEvent({ ...event, email }, NOW)).toEqual({ ok: true, value: event });
});

describe("a contact in a path", () => {
  test.each([
    ["ada@example.com", true],
    ["ädä+b/c?d#e%@example.com", true],
    ["😀@example.com", true],
    [text(320), true],
    [text(321), false],
    ["", false],
    [".", false],
    ["..", false],
    ["half of a pair \ud83d", false],
    ["\ude00 the other half", false],
  ])("the contact %j in a path is accepted: %s", (email, expected) => {
    const { params } = CONTRACT.contactEvents.list;
    expect(params.safeParse({ email }).success).toBe(expected);
    if (expected) expect(decodeURIComponent(encodeURIComponent(email))).toBe(email);
  });
});
