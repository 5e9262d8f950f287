import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { AnyEvent } from "pigeonhole";
import { bytesOf, makeEvent, post, untilWork } from "../support/receiver.js";
import { startReceiver } from "../support/start-receiver.js";

const envelope = { id: "evt_x", type: "email.sent", createdAt: "2026-01-01T09:00:00.000Z", data: {} };
const without = (field: keyof typeof envelope) =>
  Object.fromEntries(Object.entries(envelope).filter(([name]) => name !== field));
const withText = (data: string) =>
  `{"id":"evt_x","type":"email.sent","createdAt":"2026-01-01T09:00:00.000Z","data":${data}}`;
const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const rawId = (bytes: Buffer): string => `raw:${createHash("sha256").update(bytes).digest("hex")}`;
const ownId = (bytes: Buffer): string => (JSON.parse(bytes.toString()) as typeof envelope).id;

async function deliverToStar(body: unknown) {
  const seen: AnyEvent[] = [];
  const receiver = await startReceiver({}, { "*": [(event) => seen.push(event), { testEvents: true }] });
  const bytes = bytesOf(body);
  const { outcome } = await post(receiver, bytes);
  const { items } = await receiver.inbox.list();
  expect(items).toHaveLength(1);
  const stored = await receiver.inbox.get(items[0]?.id ?? "");
  expect(Buffer.compare(stored?.body ?? Buffer.alloc(0), bytes)).toBe(0);
  const again = await post(receiver, bytes);
  expect(again.outcome).toBe("duplicate");
  expect((await receiver.inbox.list()).items).toHaveLength(1);
  return { receiver, outcome, stored, seen, bytes };
}

describe("valid envelopes", () => {
  const accepted: [string, unknown][] = [
    ["as documented", envelope],
    ["with further fields", { ...envelope, apiVersion: "2027-01", livemode: true }],
    ["with an id of one character", { ...envelope, id: "e" }],
    ["with an id of 255 characters", { ...envelope, id: "e".repeat(255) }],
    ["with an id of 255 characters of two units each", { ...envelope, id: "🕊".repeat(255) }],
    ["with an id of other alphabets", { ...envelope, id: "événement-№-消息-🕊" }],
    ["with an id that looks like a digest of ours", { ...envelope, id: "raw:00" }],
    ["with a time in another zone", { ...envelope, createdAt: "2026-01-01T09:00:00+05:30" }],
    ["with a time in microseconds", { ...envelope, createdAt: "2026-01-01T09:00:00.123456Z" }],
    ["with spaces and line breaks", JSON.stringify(envelope, null, 2)],
    ["with a key twice", withText('{"a":1,"a":2}')],
    ["with numbers that no double holds", withText('{"n":9007199254740993,"big":1e400}')],
    ["with data nested 50,000 deep", withText(`{"deep":${nested(50_000)}}`)],
    ["with escaped lone surrogates in data", withText(String.raw`{"half":"\ud83d"}`)],
    ["with data of 1 MB", { ...envelope, data: { text: "é".repeat(500_000) } }],
  ];

  test.each(accepted)(
    "an envelope is accepted, kept byte by byte and a duplicate the second time: %s",
    async (_, body) => {
      const { receiver, outcome, stored, seen, bytes } = await deliverToStar(body);
      expect(outcome).toBe("accepted");
      const parsed = JSON.parse(bytes.toString()) as typeof envelope;
      expect(stored?.id).toBe(parsed.id);
      await untilWork(receiver, parsed.id, { state: "done" }, "*");
      expect(seen).toHaveLength(1);
      const { id, type, createdAt, test, known } = seen[0] ?? {};
      expect({ id, type, createdAt, test, known }).toEqual({
        id: parsed.id,
        type: parsed.type,
        createdAt: parsed.createdAt,
        test: false,
        known: true,
      });
    },
  );

  test("an envelope with __proto__ keys is accepted, and they do not change any other object", async () => {
    const { outcome, seen, receiver } = await deliverToStar(withText('{"__proto__":{"test":true,"admin":true},"a":1}'));
    expect(outcome).toBe("accepted");
    await untilWork(receiver, "evt_x", { state: "done" }, "*");
    const data = seen[0]?.data as Record<string, unknown>;
    expect(seen[0]?.test).toBe(false);
    expect(data["admin"]).toBeUndefined();
    expect(Object.getPrototypeOf(data)).toBe(Object.prototype);
    expect(Object.keys(data)).toEqual(["__proto__", "a"]);
  });
});

describe("invalid envelopes", () => {
  const notJson: [string, unknown][] = [
    ["an empty body", ""],
    ["half an object", '{"id":"evt_x"'],
    ["a word", "hello"],
    ["a byte order mark before an envelope", `\ufeff${JSON.stringify(envelope)}`],
    ["UTF-16", Buffer.from(JSON.stringify(envelope), "utf16le")],
    ["invalid UTF-8 in a string", Buffer.from(withText('{"a":"\u00ff"}'), "latin1")],
    [
      "a surrogate in UTF-8",
      Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
    ],
    ["every byte there is", Buffer.from(Uint8Array.from({ length: 256 }, (_, index) => index))],
    ["nothing but opening brackets", "[".repeat(50_000)],
  ];
  const scalars: [string, unknown][] = ["null", "true", "5", '"evt_x"', "[]", nested(50_000)].map((json) => [
    `the JSON ${json.slice(0, 20)}`,
    json,
  ]);
  const noId: [string, unknown][] = [
    ["{}", {}],
    ["an envelope without an id", without("id")],
    ["an id of 256 characters", { ...envelope, id: "e".repeat(256) }],
    ["an id of 255 characters of two units and one more", { ...envelope, id: `${"🕊".repeat(255)}e` }],
    ["a number as id", { ...envelope, id: 7 }],
    [
      "half a character in the id",
      String.raw`{"id":"evt_\ud800","type":"email.sent","createdAt":"2026-01-01T09:00:00Z","data":{}}`,
    ],
    ["an envelope within __proto__", `{"__proto__":${JSON.stringify(envelope)}}`],
  ];
  const withId: [string, unknown][] = [
    ["an envelope without a type", without("type")],
    ["a type of 256 characters", { ...envelope, type: "t".repeat(256) }],
    [
      "half a character in the type",
      String.raw`{"id":"evt_x","type":"email.\ud800","createdAt":"2026-01-01T09:00:00Z","data":{}}`,
    ],
    ["an envelope without createdAt", without("createdAt")],
    ["createdAt as a number", { ...envelope, createdAt: 1_767_258_000 }],
    ["createdAt in words", { ...envelope, createdAt: "yesterday" }],
    ["createdAt in words under an id of two-unit characters", { ...envelope, id: "🕊".repeat(200), createdAt: "x" }],
    ["an envelope without data", without("data")],
    ["data that is null", { ...envelope, data: null }],
    ["data that is a list", { ...envelope, data: [] }],
  ];
  const rows = [
    ...notJson.map(([name, body]) => ({ name, body, reason: "not_json", idOf: rawId })),
    ...[...scalars, ...noId].map(([name, body]) => ({ name, body, reason: "bad_envelope", idOf: rawId })),
    ...withId.map(([name, body]) => ({ name, body, reason: "bad_envelope", idOf: ownId })),
  ];

  test.each(rows)(
    "a body that is not an envelope is parked, kept byte by byte and a duplicate the second time: $name ($reason)",
    async ({ body, reason, idOf }) => {
      const { receiver, outcome, stored, seen, bytes } = await deliverToStar(body);
      expect(outcome).toBe("parked");
      expect(stored?.id).toBe(idOf(bytes));
      expect(stored?.state).toBe("parked");
      expect(stored?.handlers).toEqual([
        expect.objectContaining({ handler: "", state: "parked", reason, attempts: 0 }),
      ]);
      expect(seen).toEqual([]);
      expect(await receiver.inbox.retry(stored?.id ?? "")).toEqual({ pending: 0, parked: reason });
    },
  );

  test("a parked envelope says which fields are wrong, not what they contained", async () => {
    const secret = "do-not-tell";
    const { stored } = await deliverToStar({ ...envelope, createdAt: secret, type: 5, data: secret });
    expect(stored?.handlers[0]?.error).toMatch(
      /^type: invalid_type \(expected string\); createdAt: invalid_format; data: [a-z_() ]+$/,
    );
    expect(stored?.handlers[0]?.error).not.toContain(secret);
  });
});

test("events whose ids differ only in case or in white space are different", async () => {
  const receiver = await startReceiver();
  for (const id of ["evt_a", "EVT_A", " evt_a", "evt_a ", "evt_a\u0000"]) {
    expect((await post(receiver, makeEvent({ id }))).outcome).toBe("accepted");
    expect((await receiver.inbox.get(id))?.id).toBe(id);
  }
});
