import { createHash, createHmac } from "node:crypto";
import express from "express";
import { describe, expect, test } from "vitest";
import { TEST_SECRET } from "pigeonhole/testing";
import { serve } from "../support/mounts.js";
import { openWithAlarms } from "../support/alarms.js";
import { makeEvent } from "../support/receiver.js";

/** The values that a sender has at hand for one delivery. */
interface Values {
  /** Unix seconds. */
  t: string;
  ms: string;
  hex: string;
  base64: string;
  /** Made with other bytes. */
  decoy: string;
  /** The same content under another hash. */
  sha512: string;
}

function valuesOf(body: string, nowMs: number): Values {
  const t = String(Math.floor(nowMs / 1_000));
  const mac = (hash: string, content: string): Buffer => createHmac(hash, TEST_SECRET).update(content).digest();
  const digest = mac("sha256", `${t}.${body}`);
  return {
    t,
    ms: `${t}000`,
    hex: digest.toString("hex"),
    base64: digest.toString("base64"),
    decoy: mac("sha256", "other").toString("base64"),
    sha512: mac("sha512", `${t}.${body}`).toString("hex"),
  };
}

type Headers = [signature: string | string[], timestamp?: string | string[]];

/** Layouts of each outcome. Which are read is said by test/protocol/parse-signature.test.ts. */
const LAYOUTS: [name: string, outcome: "accepted" | "unreadable" | "unverified", make: (values: Values) => Headers][] =
  [
    ["t= and v1= (Stripe, Calendly)", "accepted", ({ t, hex }) => [`t=${t},v1=${hex}`]],
    ["a list of v1, (Svix, Standard Webhooks)", "accepted", ({ t, base64, decoy }) => [`v1,${decoy} v1,${base64}`, t]],
    ["the header twice (a proxy)", "accepted", ({ t, hex }) => [[`t=${t},v1=${hex}`, `t=${t},v1=${hex}`]]],
    ["no time at all (GitHub)", "unreadable", ({ hex }) => [`sha256=${hex}`]],
    ["SHA-512 (Paystack)", "unreadable", ({ t, sha512 }) => [`t=${t},v1=${sha512}`]],
    ["nothing in it", "unreadable", ({ t }) => ["", t]],
    ["microseconds", "unreadable", ({ ms, hex }) => [hex, `${ms}000`]],
    ["milliseconds that are not what was signed", "unverified", ({ ms, hex }) => [hex, ms]],
  ];

async function open(unverified: "retry" | "reject" = "retry") {
  const { clock, log, alarms, receiver } = openWithAlarms({ unverified });
  await receiver.start();
  const server = await serve(express().post("/hooks", receiver.middleware()));
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
      expect((await receiver.stats()).endpoint.failuresInARow).toBe(1);
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
    expect((await receiver.stats()).endpoint.failuresInARow).toBe(1);
  },
);

test("a row of 20 deliveries that cannot be read counts as failures in a row, and the alarms say so", async () => {
  const { send, alarms, clock, receiver } = await open();
  for (let count = 0; count < 20; count += 1) {
    const { status } = await send(() => ["sha512=00", "1"]);
    expect(status).toBe(503);
    await clock.advance(6_000);
  }
  const stats = await receiver.stats();
  expect(stats.endpoint.failuresInARow).toBe(20);
  expect(stats.answers.unreadable).toBe(20);
  const kinds = alarms.map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "signature_unreadable")).toHaveLength(2);
  expect(kinds).toContain("failures_in_a_row");
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
