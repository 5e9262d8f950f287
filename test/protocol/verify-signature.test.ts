import { createSecretKey } from "node:crypto";
import { verifyParsed } from "#pigeonhole/protocol/verify-signature.js";
import { signDelivery, verifySignature, type VerifySignatureInput } from "pigeonhole/protocol";
import { describe, expect, test } from "vitest";

const SECRET = `whsec_${"k".repeat(43)}`;
const OTHER = `whsec_${"o".repeat(43)}`;
const THIRD = `whsec_${"3".repeat(43)}`;
const NOW = 1_700_000_000_000;
const BODY = Buffer.from('{"id":"evt_1","type":"email.received","data":{}}');

const signed = signDelivery({ body: BODY, secret: SECRET, timestamp: NOW });
const verify = (changes: Partial<VerifySignatureInput> = {}) =>
  verifySignature({ body: BODY, headers: signed, secrets: SECRET, nowMs: NOW, ...changes });

/** Calls as JavaScript can: with values that the types refuse. */
const misuse = (changes: object): unknown =>
  Reflect.apply(verifySignature, undefined, [{ body: BODY, headers: signed, secrets: SECRET, nowMs: NOW, ...changes }]);

test("a delivery signed now is genuine", () => {
  expect(verify()).toEqual({ ok: true, signedAt: NOW, skewSeconds: 0, secretIndex: 0 });
});

test("verifySignature uses the current time and a tolerance of 300 seconds by default", () => {
  const at = (ms: number) => signDelivery({ body: BODY, secret: SECRET, timestamp: Date.now() + ms });
  const verdict = (ms: number) => verifySignature({ body: BODY, headers: at(ms), secrets: SECRET });
  expect(verdict(0)).toMatchObject({ ok: true });
  expect(verdict(-290_000)).toMatchObject({ ok: true });
  expect(verdict(-310_000)).toMatchObject({ ok: false, reason: "stale" });
  expect(verdict(310_000)).toMatchObject({ ok: false, reason: "early" });
});

describe("the time window", () => {
  // 300 s are 300,000 ms.
  test.each([
    [999, undefined, 0],
    [-999, undefined, 0],
    [299_999, undefined, 299],
    [300_000, undefined, 300],
    [-300_000, undefined, -300],
    [300_001, "stale", 301],
    [301_000, "stale", 301],
    [-300_001, "early", -301],
    [-301_000, "early", -301],
  ])("a delivery that is verified %i ms after its signature is %s, with a skew of %i s", (aheadMs, reason, skew) => {
    const verdict = { signedAt: NOW, skewSeconds: skew, secretIndex: 0 };
    expect(verify({ nowMs: NOW + aheadMs })).toEqual(
      reason === undefined ? { ok: true, ...verdict } : { ok: false, reason, ...verdict },
    );
    expect(verify({ nowMs: NOW + aheadMs, secrets: OTHER })).toMatchObject({ reason: "mismatch", skewSeconds: skew });
  });

  test("a window of another tolerance has the same edges", () => {
    expect(verify({ toleranceSeconds: 0, nowMs: NOW })).toMatchObject({ ok: true });
    expect(verify({ toleranceSeconds: 0, nowMs: NOW + 1 })).toMatchObject({ reason: "stale" });
    expect(verify({ toleranceSeconds: 0.5, nowMs: NOW + 500 })).toMatchObject({ ok: true, skewSeconds: 0 });
    expect(verify({ toleranceSeconds: 0.5, nowMs: NOW + 501 })).toMatchObject({ reason: "stale", skewSeconds: 1 });
    expect(verify({ toleranceSeconds: 10, nowMs: NOW - 10_000 })).toMatchObject({ ok: true });
    expect(verify({ toleranceSeconds: 10, nowMs: NOW - 10_001 })).toMatchObject({ reason: "early" });
    expect(verify({ toleranceSeconds: Infinity, nowMs: NOW * 2 })).toMatchObject({ ok: true });
  });

  test("a wrong MAC is a mismatch however old it is, and has its age all the same", () => {
    const verdict = verify({ secrets: OTHER, nowMs: NOW + 1_000_000 });
    expect(verdict).toEqual({ ok: false, reason: "mismatch", signedAt: NOW, skewSeconds: 1000 });
  });

  test("the inner function refuses a time that is not a number", () => {
    const signatures = [Buffer.from(signed["x-svc-signature"]?.split("v1=")[1] ?? "", "hex")];
    const read = { ok: true, timestampText: "1700000000", timestampFrom: "signature" } as const;
    const parsed = { ...read, signedAt: NOW, signatures };
    expect(verifyParsed(parsed, BODY, [SECRET], NOW, 300)).toMatchObject({ ok: true });
    expect(verifyParsed(parsed, BODY, [SECRET], Number.NaN, 300)).toMatchObject({ ok: false, reason: "stale" });
    expect(verifyParsed(parsed, BODY, [SECRET], NOW, Number.NaN)).toMatchObject({ ok: false, reason: "stale" });
  });
});

describe("reasons for a refusal", () => {
  const value = signed["x-svc-signature"]?.split("v1=")[1] ?? "";
  test.each<[string, Partial<VerifySignatureInput>]>([
    ["missing_signature", { headers: {} }],
    ["malformed_signature", { headers: { "x-svc-signature": "junk" } }],
    ["missing_timestamp", { headers: { "x-svc-signature": value } }],
    ["malformed_timestamp", { headers: { "x-svc-signature": `t=now,v1=${value}` } }],
    ["mismatch", { body: Buffer.concat([BODY, Buffer.from("\n")]) }],
    ["mismatch", { headers: { "x-svc-signature": `t=1700000001,v1=${value}` } }],
    ["mismatch", { headers: { "x-svc-signature": `t=01700000000,v1=${value}` } }],
    ["mismatch", { headers: { "x-svc-signature": `t=1700000000,v1=${"0".repeat(64)}` } }],
  ])("verifySignature can refuse a delivery with the reason %s (row %#)", (reason, changes) => {
    expect(verify(changes)).toMatchObject({ ok: false, reason });
  });
});

describe("secrets", () => {
  test.each([
    [[SECRET, OTHER], 0],
    [[OTHER, SECRET], 1],
    [[OTHER, THIRD, SECRET], 2],
    [[OTHER, SECRET, SECRET], 1],
    [[createSecretKey(Buffer.from(OTHER)), createSecretKey(Buffer.from(SECRET))], 1],
  ])("any of several secrets suffices, and the first that matches is named (row %#)", (secrets, secretIndex) => {
    expect(verify({ secrets })).toMatchObject({ ok: true, secretIndex });
  });

  test("any secret may match any signature of the header", () => {
    const valueBy = (secret: string) => signDelivery({ body: BODY, secret, timestamp: NOW })["x-svc-signature"];
    const list = [THIRD, SECRET].map((secret) => valueBy(secret)?.split(",")[1]).join(",");
    const headers = { "x-svc-signature": `t=1700000000,${list}` };
    expect(verify({ headers, secrets: [OTHER, SECRET] })).toMatchObject({ ok: true, secretIndex: 1 });
    expect(verify({ headers, secrets: [THIRD, SECRET] })).toMatchObject({ ok: true, secretIndex: 0 });
    expect(verify({ headers, secrets: [OTHER] })).toMatchObject({ reason: "mismatch" });
  });

  test("the prefix of the secret is part of the key", () => {
    expect(verify({ secrets: SECRET.slice("whsec_".length) })).toMatchObject({ reason: "mismatch" });
    expect(verify({ secrets: `${SECRET} ` })).toMatchObject({ reason: "mismatch" });
  });

  test.each([
    ["none", []],
    ["an empty one", ""],
    ["blanks", " \n"],
    ["an empty one in the list", [SECRET, ""]],
    ["an empty key object", [createSecretKey(Buffer.alloc(0))]],
    ["no string", [undefined]],
    ["no list", undefined],
  ])("verifySignature throws if the secrets are %s", (_name, secrets) => {
    expect(() => misuse({ secrets })).toThrow(expect.objectContaining({ code: "invalid_secret" }));
  });
});

describe("arguments that no sender can influence", () => {
  test.each<[string, object]>([
    ["invalid_argument", { toleranceSeconds: Number.NaN }],
    ["invalid_argument", { toleranceSeconds: -1 }],
    ["invalid_argument", { toleranceSeconds: "300" }],
    ["invalid_argument", { nowMs: Number.NaN }],
    ["invalid_argument", { nowMs: Infinity }],
    ["invalid_argument", { body: { id: "evt_1" } }],
    ["invalid_argument", { headers: null }],
    ["invalid_option", { assumptions: { timestampIn: "body" } }],
    ["invalid_option", { assumptions: { encodings: [] } }],
    ["invalid_option", { assumptions: { encodings: ["utf8"] } }],
    ["invalid_option", { assumptions: { signatureHeader: "x svc" } }],
    ["invalid_option", { assumptions: { timestampHeader: "X-Svc-Signature" } }],
  ])("verifySignature throws %s for %o", (code, changes) => {
    expect(() => misuse(changes)).toThrow(expect.objectContaining({ name: "PigeonholeError", code }));
  });
});

describe("forms of body and headers", () => {
  test("text and bytes of the same body verify alike", () => {
    expect(verify({ body: BODY.toString() })).toMatchObject({ ok: true });
    expect(verify({ body: new Uint8Array(BODY) })).toMatchObject({ ok: true });
  });

  test("a view into a larger buffer is read without the bytes around it", () => {
    const large = Buffer.concat([Buffer.from("<<"), BODY, Buffer.from(">>")]);
    expect(verify({ body: large.subarray(2, -2) })).toMatchObject({ ok: true });
    expect(verify({ body: large.subarray(2, -1) })).toMatchObject({ reason: "mismatch" });
  });

  test("a body that is not UTF-8 verifies", () => {
    const body = Buffer.from([0xc3, 0x28, 0x00, 0xff]);
    const headers = signDelivery({ body, secret: SECRET, timestamp: NOW });
    expect(verify({ body, headers })).toMatchObject({ ok: true });
    expect(verify({ body: body.toString(), headers })).toMatchObject({ reason: "mismatch" });
  });

  const bare = signDelivery({ body: BODY, secret: SECRET, timestamp: NOW, format: "bare" });
  const mixed = { "X-Svc-Signature": bare["x-svc-signature"] ?? "", "X-SVC-TIMESTAMP": bare["x-svc-timestamp"] ?? "" };
  test.each<[string, VerifySignatureInput["headers"]]>([
    ["a record in lower case", bare],
    ["a record in any case", mixed],
    ["Headers", new Headers(mixed)],
    ["a reader", (name: string) => bare[name]],
    ["lists of one", { "X-Svc-Signature": [mixed["X-Svc-Signature"]], "x-svc-timestamp": [mixed["X-SVC-TIMESTAMP"]] }],
    ["a header called get", { ...bare, get: "x" }],
  ])("verifySignature reads headers in the form of %s", (_name, headers) => {
    expect(verify({ headers })).toMatchObject({ ok: true });
  });

  test("a header sent twice is joined as one header", () => {
    const twice = new Headers(signed);
    twice.append("X-Svc-Signature", signed["x-svc-signature"] ?? "");
    expect(verify({ headers: twice })).toMatchObject({ ok: true });
    const value = bare["x-svc-signature"] ?? "";
    const list = { ...bare, "x-svc-signature": [value, value] };
    expect(verify({ headers: list })).toMatchObject({ ok: true });
    const times = { ...bare, "x-svc-timestamp": ["1700000000", "1700000000"] };
    expect(verify({ headers: times })).toMatchObject({ ok: true });
  });

  test("an empty list or an inherited name counts as no header", () => {
    expect(verify({ headers: { "x-svc-signature": [] } })).toMatchObject({ reason: "missing_signature" });
    expect(misuse({ headers: Object.create(signed) })).toMatchObject({ reason: "missing_signature" });
  });
});
