import { createHash, createHmac } from "node:crypto";
import express from "express";
import { expect, test } from "vitest";
import { TEST_SECRET } from "pigeonhole/testing";
import { serve } from "../support/serve.js";
import { startWithAlarms } from "../support/alarms.js";
import { makeEvent } from "../support/receiver.js";

/** The values that a sender has at hand for one delivery: `t` in seconds, `sha512` of the same content. */
function valuesOf(body: string, nowMs: number) {
  const t = String(Math.floor(nowMs / 1_000));
  const mac = (hash: string): Buffer => createHmac(hash, TEST_SECRET).update(`${t}.${body}`).digest();
  return { t, hex: mac("sha256").toString("hex"), sha512: mac("sha512").toString("hex") };
}

type Values = ReturnType<typeof valuesOf>;
type Headers = [signature: string | string[], timestamp?: string];

async function open() {
  const { clock, log, alarms, receiver } = await startWithAlarms();
  const server = await serve(express().post("/hooks", receiver.middleware()));
  async function send(make: (values: Values) => Headers) {
    const body = JSON.stringify(makeEvent());
    const values = valuesOf(body, clock.now());
    const [signature, timestamp] = make(values);
    const headers = new Headers({ "content-type": "application/json" });
    for (const value of [signature].flat()) headers.append("x-svc-signature", value);
    if (timestamp !== undefined) headers.append("x-svc-timestamp", timestamp);
    const { status, headers: answered } = await fetch(`${server.url}/hooks`, { method: "POST", body, headers });
    return { status, outcome: answered.get("x-pigeonhole-outcome"), values };
  }
  return { log, alarms, receiver, send };
}

// Which layouts are read is said by test/protocol/parse-signature.test.ts.
test("a genuine delivery whose proxy sends its header twice is accepted", async () => {
  const { send, alarms } = await open();
  const { status, outcome } = await send(({ t, hex }) => [[`t=${t},v1=${hex}`, `t=${t},v1=${hex}`]]);
  expect([status, outcome, alarms]).toEqual([200, "accepted", []]);
});

const shapeOfOne = expect.stringContaining("x-svc-signature of ") as string;

test.each<[string, (values: Values) => Headers, string, string]>([
  ["without a time (GitHub)", ({ hex }) => [`sha256=${hex}`], "missing_timestamp", shapeOfOne],
  ["by SHA-512 (Paystack)", ({ t, sha512 }) => [`t=${t},v1=${sha512}`], "malformed_signature", shapeOfOne],
  ["in microseconds", ({ t, hex }) => [hex, `${t}000000`], "malformed_timestamp", shapeOfOne],
  [
    "with a timestamp only",
    ({ t }) => [[], t],
    "missing_signature",
    "no x-svc-signature; x-svc-timestamp of 10 characters: 10 digits",
  ],
])("a delivery signed %s is answered 503 with an alarm that has no value of it", async (_, make, reason, shape) => {
  const { send, alarms, log, receiver } = await open();
  const { status, outcome, values } = await send(make);
  expect([status, outcome]).toEqual([503, "unreadable"]);
  expect(alarms).toEqual([{ kind: "signature_unreadable", reason, shape }]);
  expect((await receiver.stats()).endpoint.failuresInARow).toBe(1);
  expect(log.named("alarm")[0]?.["advice"]).toContain("`signature`");
  const told = JSON.stringify([alarms, log.lines.map(({ time: _time, ...line }) => line)]);
  for (const value of Object.values(values)) expect(told).not.toContain(value);
});

test("the logged shape of a header has names, lengths and kinds of characters, and no value", async () => {
  const { send, alarms } = await open();
  const hash = createHash("sha512").update("canary").digest();
  const parts = [
    `t=17000000000000000`,
    `v2=${hash.toString("hex")}`,
    `canaryCANARYcanary=${hash.toString("base64")}`,
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
