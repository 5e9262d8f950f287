import { createHash, createHmac } from "node:crypto";
import express from "express";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Alarm } from "pigeonhole";
import { TEST_SECRET, fakeClock } from "pigeonhole/testing";
import { serve } from "../support/mounts.js";
import { captureLog, makeEvent, openReceiver } from "../support/receiver.js";

/** The values that a sender has at hand for one delivery. */
interface Values {
  /** Unix seconds. */
  t: string;
  ms: string;
  iso: string;
  hex: string;
  base64: string;
  /** Made with other bytes. */
  decoy: string;
  /** The same content under other hashes. */
  sha1: string;
  sha512: string;
}

function valuesOf(body: string, nowMs: number): Values {
  const t = String(Math.floor(nowMs / 1_000));
  const mac = (hash: string, content: string): Buffer => createHmac(hash, TEST_SECRET).update(content).digest();
  const digest = mac("sha256", `${t}.${body}`);
  return {
    t,
    ms: `${t}000`,
    iso: new Date(Number(t) * 1_000).toISOString(),
    hex: digest.toString("hex"),
    base64: digest.toString("base64"),
    decoy: mac("sha256", "other").toString("base64"),
    sha1: mac("sha1", `${t}.${body}`).toString("hex"),
    sha512: mac("sha512", `${t}.${body}`).toString("hex"),
  };
}

type Headers = [signature: string | string[], timestamp?: string | string[]];

/** Layouts of signature headers in use, each with what the receiver makes of a genuine delivery that has it. */
const LAYOUTS: [name: string, outcome: "accepted" | "unreadable" | "unverified", make: (values: Values) => Headers][] =
  [
    ["t= and v1= (Stripe, Calendly)", "accepted", ({ t, hex }) => [`t=${t},v1=${hex}`]],
    ["t= and v1= with a space (WorkOS)", "accepted", ({ t, hex }) => [`t=${t}, v1=${hex}`]],
    [
      "pairs between spaces, one for each secret (Persona)",
      "accepted",
      ({ t, hex }) => [`t=${t},v1=${hex} t=${t},v1=${hex}`],
    ],
    ["ts= and h1= between semicolons (Paddle)", "accepted", ({ t, hex }) => [`ts=${t};h1=${hex}`]],
    ["t= and s=", "accepted", ({ t, hex }) => [`t=${t},s=${hex}`]],
    ["t= and v0= (Mailchimp, older Stripe)", "accepted", ({ t, hex }) => [`t=${t},v0=${hex}`]],
    ["timestamp= and signature=", "accepted", ({ t, base64 }) => [`timestamp=${t},signature=${base64}`]],
    [
      "quoted parameters (HTTP signatures)",
      "accepted",
      ({ t, base64 }) => [`keyId="a",t="${t}",signature="${base64}"`],
    ],
    ["a list of v1, (Svix, Standard Webhooks)", "accepted", ({ t, base64, decoy }) => [`v1,${decoy} v1,${base64}`, t]],
    ["v1a, beside v1, (Standard Webhooks)", "accepted", ({ t, base64, sha512 }) => [`v1a,${sha512} v1,${base64}`, t]],
    ["v0= with the time beside it (Slack, Zoom)", "accepted", ({ t, hex }) => [`v0=${hex}`, t]],
    ["sha256= (GitHub)", "accepted", ({ t, hex }) => [`sha256=${hex}`, t]],
    ["sha1= and sha256= (Intercom, Bitbucket)", "accepted", ({ t, hex, sha1 }) => [`sha1=${sha1},sha256=${hex}`, t]],
    ["base64 alone (Shopify, Square)", "accepted", ({ t, base64 }) => [base64, t]],
    ["hex in capitals (Linear, Dropbox)", "accepted", ({ t, hex }) => [hex.toUpperCase(), t]],
    ["a scheme in front (Authorization style)", "accepted", ({ t, base64 }) => [`HMAC-SHA256 ${base64}`, t]],
    ["the header twice (a proxy)", "accepted", ({ t, hex }) => [[`t=${t},v1=${hex}`, `t=${t},v1=${hex}`]]],
    [
      "both headers twice",
      "accepted",
      ({ t, hex }) => [
        [hex, hex],
        [t, t],
      ],
    ],
    ["a value that is not one beside it", "accepted", ({ t, hex }) => [`t=${t},v1=none,v1=${hex}`]],
    ["no time at all (GitHub)", "unreadable", ({ hex }) => [`sha256=${hex}`]],
    ["the time and a dot in front", "unreadable", ({ t, hex }) => [`${t}.${hex}`, t]],
    ["SHA-512 (Paystack)", "unreadable", ({ t, sha512 }) => [`t=${t},v1=${sha512}`]],
    ["SHA-1 (Twilio, Vercel)", "unreadable", ({ t, sha1 }) => [sha1, t]],
    ["base64 of the hex (HubSpot)", "unreadable", ({ t, hex }) => [Buffer.from(hex).toString("base64"), t]],
    ["a JSON object", "unreadable", ({ t, hex }) => [JSON.stringify({ t: Number(t), v1: hex })]],
    ["a structured field (RFC 9421)", "unreadable", ({ t, base64 }) => [`sig1=:${base64}:`, t]],
    ["colons", "unreadable", ({ t, hex }) => [`t:${t},v1:${hex}`]],
    ["a MAC cut off", "unreadable", ({ t, hex }) => [`t=${t},v1=${hex.slice(0, 40)}`]],
    ["a JSON Web Token", "unreadable", ({ t, decoy }) => [`eyJhbGciOiJIUzI1NiJ9.e30.${decoy}`, t]],
    ["nothing in it", "unreadable", ({ t }) => ["", t]],
    ["seconds with a fraction", "unreadable", ({ t, hex }) => [hex, `${t}.5`]],
    ["microseconds", "unreadable", ({ ms, hex }) => [hex, `${ms}000`]],
    ["an RFC 1123 date", "unreadable", ({ t, hex }) => [hex, new Date(Number(t) * 1_000).toUTCString()]],
    ["two different times", "unreadable", ({ t, hex }) => [hex, [t, `${Number(t) + 1}`]]],
    ["milliseconds that are not what was signed", "unverified", ({ ms, hex }) => [hex, ms]],
    ["ISO 8601 that is not what was signed", "unverified", ({ iso, hex }) => [`t=${iso},v1=${hex}`]],
  ];

async function open(unverified: "retry" | "reject" = "retry") {
  const clock = fakeClock();
  const log = captureLog();
  const alarms: Alarm[] = [];
  const onAlarm = (alarm: Alarm): unknown => alarms.push(alarm);
  const receiver = openReceiver({ clock, unverified, logger: log.logger, onAlarm });
  await receiver.start();
  const server = await serve(express().post("/hooks", receiver.middleware()));
  onTestFinished(() => server.close());
  async function send(make: (values: Values) => Headers) {
    const body = JSON.stringify(makeEvent());
    const values = valuesOf(body, clock.now());
    const [signature, timestamp] = make(values);
    const headers = new Headers({ "content-type": "application/json" });
    for (const value of [signature].flat()) headers.append("x-svc-signature", value);
    for (const value of timestamp === undefined ? [] : [timestamp].flat()) headers.append("x-svc-timestamp", value);
    const response = await fetch(`${server.url}/hooks`, { method: "POST", body, headers });
    const { status } = response;
    const outcome = response.headers.get("x-pigeonhole-outcome");
    return { status, outcome, retryAfter: response.headers.get("retry-after"), values };
  }
  return { clock, log, alarms, receiver, send };
}

describe("genuine deliveries in other senders' layouts", () => {
  test.each(LAYOUTS)(
    "a genuine delivery in another sender's layout is accepted, or answered so that it is sent again: %s is %s",
    async (_, outcome, make) => {
      const { send, alarms, log, receiver } = await open();
      const { values, ...received } = await send(make);
      if (outcome === "accepted") {
        expect(received).toEqual({ status: 200, outcome, retryAfter: null });
        expect(alarms).toEqual([]);
        return;
      }
      expect(received).toEqual({ status: 503, outcome, retryAfter: "60" });
      expect((await receiver.stats()).failuresInARow).toBe(1);
      if (outcome === "unverified") return;
      expect(alarms).toEqual([
        {
          kind: "signature_unreadable",
          reason: expect.stringMatching(/^(malformed_signature|(missing|malformed)_timestamp)$/),
          shape: expect.stringContaining("x-svc-signature of "),
        },
      ]);
      expect(log.named("alarm")[0]?.["advice"]).toContain("`signature`");
      const told = JSON.stringify([alarms, log.lines.map(({ time: _time, ...line }) => line)]);
      for (const value of Object.values(values)) expect(told).not.toContain(value);
    },
  );

  test("the tests cover at least 24 layouts of other senders, and most of them are read", () => {
    expect(LAYOUTS.length).toBeGreaterThanOrEqual(24);
    expect(LAYOUTS.filter(([, outcome]) => outcome === "accepted").length).toBeGreaterThan(LAYOUTS.length / 2);
  });
});

test.each([
  ["retry", 503, "60"],
  ["reject", 401, null],
] as const)(
  "under unverified %s, a timestamp without a signature is answered %i with an alarm, like an unreadable signature",
  async (unverified, status, retryAfter) => {
    const { send, alarms, receiver } = await open(unverified);
    const { values, ...received } = await send(({ t }) => [[], t]);
    expect(received).toEqual({ status, outcome: "unreadable", retryAfter });
    const shape = `no x-svc-signature; x-svc-timestamp of ${values.t.length} characters: 10 digits`;
    expect(alarms).toContainEqual({ kind: "signature_unreadable", reason: "missing_signature", shape });
    expect((await receiver.stats()).failuresInARow).toBe(1);
  },
);

test("a row of 40 deliveries that cannot be read counts as failures in a row, and the alarms say so", async () => {
  const { send, alarms, clock, receiver } = await open();
  for (let count = 0; count < 40; count += 1) {
    const { status } = await send(() => ["sha512=00", "1"]);
    expect(status).toBe(503);
    await clock.advance(3_000);
  }
  const stats = await receiver.stats();
  expect(stats.failuresInARow).toBe(40);
  expect(stats.answers.unreadable).toBe(40);
  const kinds = alarms.map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "signature_unreadable")).toHaveLength(2);
  expect(kinds).toContain("failures_in_a_row");
});

test('a header that cannot be read is answered 401 with unverified: "reject", and raises the same alarm', async () => {
  const { send, alarms } = await open("reject");
  expect(await send(() => ["junk"])).toMatchObject({ status: 401, outcome: "unreadable", retryAfter: null });
  expect(alarms).toContainEqual(expect.objectContaining({ kind: "signature_unreadable" }));
});

test("the logged shape of a header has names, lengths and kinds of characters, and no value", async () => {
  const { send, alarms } = await open();
  const hash = createHash("sha512").update("canary").digest();
  const secretLike = "canaryCANARYcanary";
  const parts = [
    `t=17000000000000000`,
    `v2=${hash.toString("hex")}`,
    `${secretLike}=${hash.toString("base64")}`,
    "a-key=x",
    "words",
    "é",
  ];
  await send(() => [parts.join(","), "now"]);
  expect(alarms).toEqual([
    {
      kind: "signature_unreadable",
      reason: "malformed_signature",
      shape:
        "x-svc-signature of 275 characters: t=17 digits, v2=128 hex digits, a key of 18 characters = 88 base64 characters, " +
        "a key of 5 characters = 1 letters, 5 letters, 1 characters; x-svc-timestamp of 3 characters: 3 letters",
    },
  ]);
});
