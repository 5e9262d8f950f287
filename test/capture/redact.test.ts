import { describe, expect, test } from "vitest";
import { EVENT_TYPES } from "pigeonhole/protocol";
import { sampleEvent } from "pigeonhole/testing";
import { isoTime } from "#pigeonhole/base/iso-time.js";
import { bodyBytes, digestBytes } from "#pigeonhole/capture/model/capture-request.js";
import type { Capture } from "#pigeonhole/capture/model/capture.js";
import { fromInbox } from "#pigeonhole/capture/model/from-inbox.js";
import { createFakeValues } from "#pigeonhole/capture/redact/fake-values.js";
import { hideAddresses } from "#pigeonhole/capture/redact/redact-value.js";
import { REDACTION_PROFILES } from "#pigeonhole/capture/redact/redaction-profiles.js";
import { createRedactor } from "#pigeonhole/capture/redact/redactor.js";
import { makeCapture, NOW } from "../support/captures.js";
import { cpuMs } from "../support/cpu-ms.js";

const key = Buffer.from("a key of the test");
const data = {
  messageId: "msg_0123456789abcdef",
  from: "Ada Lovelace <ada@customer.example.com>",
  recipient: "Ada@customer.example.com",
  other: "bob@customer.example.com",
  reason: "bounce",
  subject: "Invoice 42 for Ada",
  user: "ada_lovelace1815",
  text: "Dear Ada,\nwrite to ada@customer.example.com. Yours",
  ip: "203.0.113.9",
  domain: "customer.example.com",
  apiToken: "plainvalue",
  link: "sk_live_abcdef",
  createdAt: "2026-01-01T00:00:00Z",
  size: 48_213,
  note: null,
  ok: true,
  "ada@customer.example.com": 1,
  to: ["ada@customer.example.com"],
};
const original: Capture = {
  ...makeCapture({
    body: JSON.stringify({ id: "evt_1", type: "email.bounced", createdAt: "2026-01-01T00:00:00Z", data }),
  }),
  note: "Ada called",
  tags: ["vip"],
  expect: { status: "200", json: { name: "Ada" } },
};

const dataOf = (capture: Capture) =>
  (
    JSON.parse(Buffer.from(bodyBytes(capture)).toString()) as {
      data: Record<keyof typeof data, string> & { to: string[] };
    }
  ).data;

describe("redaction", () => {
  const redacted = createRedactor({ key })(original);
  const seen = dataOf(redacted);

  test.each(REDACTION_PROFILES)("the redaction profile %s removes all personal data", (profile) => {
    const text = JSON.stringify(createRedactor({ profile })(original));
    expect(text).not.toMatch(/\bada\b|lovelace|bob|customer|invoice|dear|203\.0|sk_live|plainvalue|called/i);
  });

  test.each(REDACTION_PROFILES)(
    "the redaction profile %s removes addresses outside the body, and codes that are numbers",
    (profile) => {
      const envelope = { id: "ada@customer.example.com", type: "email.bounced", createdAt: "ada@customer.example.com" };
      const capture: Capture = {
        ...makeCapture({
          body: JSON.stringify({ ...envelope, data: { loginToken: 482_913, passwords: [{ pin: "4711" }] } }),
          path: "/in/ada@c.example",
        }),
        tags: ["of ada@customer.example.com", "vip"],
        expect: { status: "200", ignore: ["$.ada@customer.example.com"] },
      };
      const safe = createRedactor({ profile, key })(capture);
      expect(JSON.stringify({ ...safe, id: "" })).not.toMatch(/ada|customer|482913|4711/);
      expect(safe.request.path).toMatch(profile === "strict" ? /^\/webhooks\/mail$/ : /^\/in\/p-\w+@d-\w+\.example$/);
      expect(safe.event.id).toBe((JSON.parse(Buffer.from(bodyBytes(safe)).toString()) as { id: string }).id);
      expect(safe.tags).toHaveLength(profile === "strict" ? 0 : 2);
    },
  );

  test.each([
    `jane.o'connor@secret.example`,
    `jane'@secret.example`,
    "jane!#$%&*+/=?^_{|}~-`o@secret.example",
    `"jane o'connor, (a:b;c) [d] <e>"@secret.example`,
    String.raw`"jane \"o\" connor"@secret.example`,
    "jane@[192.0.2.1]",
  ])("redaction takes %s as one address", (address) => {
    const rules = { fakes: createFakeValues(key), strict: false };
    const standIn = rules.fakes.address(address);
    for (const quote of ["", "<>", "''", "()"])
      expect(hideAddresses(`for ${quote.slice(0, 1)}${address}${quote.slice(1)} it`, rules)).toBe(
        `for ${quote.slice(0, 1)}${standIn}${quote.slice(1)} it`,
      );
    expect(hideAddresses(`to='${address}'`, rules)).not.toMatch(/jane|secret|192\.0/);
    expect(hideAddresses(JSON.stringify({ to: address }), rules)).not.toMatch(/jane|secret|192\.0/);
  });

  test("redaction keeps the number of tokens or sessions", () => {
    const body = JSON.stringify({ id: "evt_1", type: "email.bounced", data: { tokens: 300, sessions: 12, code: 550 } });
    expect(dataOf(createRedactor({ key })(makeCapture({ body })))).toEqual({ tokens: 300, sessions: 12, code: 550 });
  });

  test("redaction replaces a body that is too deeply nested to be read", () => {
    const lists = "[".repeat(100_000);
    const body = `{"id":"evt_1","type":"email.bounced","data":["Ada",${lists}${"]".repeat(100_000)}]}`;
    const safe = createRedactor({ key })(makeCapture({ body }));
    expect(safe.request.body.data).toHaveLength(body.length);
    expect(safe.request.body.data).not.toContain("Ada");
  });

  test("redaction replaces the same address by the same substitute in lists, keys and next to a name", () => {
    expect(seen.recipient).toMatch(/^p-[0-9a-f]{8}@d-[0-9a-f]{8}\.example$/);
    expect(seen.from).toBe(`Xxx Xxxxxxxx <${seen.recipient}>`);
    expect(seen.to).toEqual([seen.recipient]);
    expect(seen).toHaveProperty([seen.recipient], 1);
    expect(seen.other).not.toBe(seen.recipient);
    expect(seen.other.split("@")[1]).toBe(seen.domain);
  });

  test("redaction keeps identifiers, dates, kinds and types, and the length of texts", () => {
    expect(seen).toMatchObject({
      messageId: data.messageId,
      reason: "bounce",
      createdAt: data.createdAt,
      size: 48_213,
      note: null,
      ok: true,
    });
    expect(seen.subject).toBe("Xxxxxxx 00 xxx Xxx");
    expect(seen.apiToken).toBe("[dropped]");
    expect(redacted.event).toEqual(original.event);
  });

  test("redaction removes the signature together with the bytes that it was made for", () => {
    expect(redacted).toMatchObject({
      redaction: "default",
      note: "",
      attempts: [],
      tags: ["vip"],
      verify: { code: "missing" },
      expect: { status: "200" },
    });
    expect(redacted.expect).not.toHaveProperty("json");
    expect(redacted.request.headers).toEqual([["Content-Type", "application/json"]]);
    expect(redacted.request.sha256).toBe(digestBytes(bodyBytes(redacted)));
  });

  test("redaction cannot be undone or repeated without its key", () => {
    expect(createRedactor({ key })(original)).toEqual(redacted);
    expect(dataOf(createRedactor()(original)).recipient).not.toBe(seen.recipient);
  });

  test("strict redaction also removes identifiers inside data, numbers, marks and tags", () => {
    const strict = createRedactor({ key, profile: "strict" })(original);
    expect(dataOf(strict)).toMatchObject({
      messageId: expect.stringMatching(/^msg_[0-9a-f]{16}$/),
      size: 10_000,
      reason: "bounce",
    });
    expect(dataOf(strict).messageId).not.toBe(data.messageId);
    expect(strict).toMatchObject({ tags: [], request: { path: "/webhooks/mail" }, event: { id: "evt_1" } });
  });

  test.each(EVENT_TYPES)("redaction leaves no address in the sample of %s", (type) => {
    const redact = createRedactor({ key });
    const text = JSON.stringify(redact(makeCapture({ body: JSON.stringify(sampleEvent(type)) })));
    expect(text).not.toMatch(/\bada\b|customer\.example|192\.0\.2/i);
  });

  test("redaction replaces a body that is not JSON with as many meaningless bytes", () => {
    const text = createRedactor()(makeCapture({ body: "Ada, 42!\n" }));
    expect(text.request.body).toEqual({ encoding: "utf8", data: "Xxx, 00!\n" });
    const bytes = createRedactor()(makeCapture({ body: Buffer.from([0xff, 1, 2, 3]) }));
    expect(Buffer.from(bodyBytes(bytes))).toEqual(Buffer.alloc(4));
  });

  test("redaction takes time in proportion to the text, even if the text looks like an address", () => {
    const body = (length: number): string =>
      JSON.stringify({ data: { text: "a.".repeat(length) + "@".repeat(length) } });
    const started = cpuMs();
    createRedactor()(makeCapture({ body: body(50_000) }));
    expect(cpuMs() - started).toBeLessThan(1_000);
  });
});

test("an event of the inbox becomes a capture with its exact bytes", () => {
  const body = Buffer.from(JSON.stringify(sampleEvent("email.sent", {}, { seed: 1 })));
  const capture = fromInbox({ id: "evt_1", type: "email.sent", body, receivedAt: isoTime(NOW) });
  expect(Buffer.from(bodyBytes(capture))).toEqual(body);
  expect(capture).toMatchObject({
    source: "production",
    request: { path: "/webhooks/mail" },
    receivedAt: new Date(NOW).toISOString(),
    event: { type: "email.sent" },
  });
  const parked = fromInbox({ id: "raw:12", type: "", body: Buffer.from([0xff]), receivedAt: isoTime(NOW) });
  expect(parked.event).toMatchObject({ id: "raw:12", type: null });
});
