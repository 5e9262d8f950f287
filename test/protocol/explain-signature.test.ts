import { createHmac, createSecretKey } from "node:crypto";
import { explainSignature, signDelivery, type VerifySignatureInput } from "pigeonhole/protocol";
import { describe, expect, test } from "vitest";
import type { FindingCode } from "#pigeonhole/protocol/explanation.js";

const SECRET = `whsec_${"CANARYkey".repeat(5).slice(0, 43)}`;
const NOW = 1_700_000_000_000;
const VALUE = { id: "evt_1", type: "email.received", data: { subject: "CANARYbody € é", tags: ["a", {}], url: "a/b" } };
const COMPACT = JSON.stringify(VALUE);
const PRETTY = JSON.stringify(VALUE, null, 2);

/** Explains what a receiver sees of a delivery that was signed with these. */
function explain(
  changes: Partial<VerifySignatureInput> = {},
  signed: { body?: string | Buffer; secret?: string; timestamp?: number } = {},
) {
  const body = signed.body ?? changes.body ?? COMPACT;
  const headers = signDelivery({ body, secret: signed.secret ?? SECRET, timestamp: signed.timestamp ?? NOW });
  return explainSignature({ body: COMPACT, headers, secrets: SECRET, nowMs: NOW, ...changes });
}

const codes = (explanation: { findings: readonly { code: FindingCode }[] }): FindingCode[] =>
  explanation.findings.map(({ code }) => code);

/** MAC over any content, to sign in ways that signDelivery does not. */
const hmac = (key: string | Buffer, content: string): string => createHmac("sha256", key).update(content).digest("hex");

test("a genuine delivery has no findings", () => {
  expect(explain()).toEqual({
    verdict: { ok: true, signedAt: NOW, skewSeconds: 0, secretIndex: 0 },
    ok: true,
    summary: "Genuine: signed 0 seconds ago with secrets[0].",
    findings: [],
  });
  expect(explain({ nowMs: NOW - 20_000 }).summary).toBe("Genuine: signed 20 seconds ahead of now with secrets[0].");
});

test("the explanation says which other secret of the list made the signature", () => {
  const explanation = explain({ secrets: ["whsec_old", "whsec_older", SECRET] });
  expect(explanation.ok).toBe(true);
  expect(codes(explanation)).toEqual(["secret_not_first"]);
  expect(explanation.findings[0]?.message).toBe("secrets[2] of 3 made the signature, not secrets[0].");
});

describe("explaining the secret", () => {
  const bareKey = SECRET.slice("whsec_".length);
  test.each<[FindingCode, string, string]>([
    ["secret_has_whitespace", "a line end behind", `${SECRET}\n`],
    ["secret_has_whitespace", "blanks around", `  ${SECRET}\t`],
    ["secret_has_quotes", "quotes", `"${SECRET}"`],
    ["secret_has_quotes", "quotes and a line end", `'${SECRET}'\r\n`],
    ["secret_has_quotes", "a line end written out", `${SECRET}\\n`],
    ["secret_prefix_missing", "no prefix", bareKey],
    ["secret_prefix_missing", "no prefix and a line end", `${bareKey}\n`],
  ])("the explanation names the mistake %s for a secret with %s", (code, _name, secret) => {
    const explanation = explain({ secrets: secret });
    expect(explanation.verdict).toMatchObject({ reason: "mismatch" });
    expect(codes(explanation)).toEqual([code]);
  });

  test("the explanation says how to remove whitespace around a secret", () => {
    const [finding] = explain({ secrets: `${SECRET}\n` }).findings;
    expect(finding?.message).toBe("secrets[0] has white space or a line end around it; it would match after trimming.");
  });

  test("the explanation recognises a sender that signs without the prefix, or with the decoded key as Standard Webhooks does", () => {
    const headers = (key: string | Buffer) => ({
      "x-svc-signature": `t=1700000000,v1=${hmac(key, `1700000000.${COMPACT}`)}`,
    });
    expect(codes(explain({ headers: headers(bareKey) }))).toEqual(["secret_prefix_not_signed"]);
    expect(codes(explain({ headers: headers(Buffer.from(bareKey, "base64")) }))).toEqual(["secret_base64_decoded"]);
  });

  test("the explanation says which of several secrets it means", () => {
    const [finding] = explain({ secrets: ["whsec_other", `${SECRET} `] }).findings;
    expect(finding?.message).toMatch(/^secrets\[1\] has white space/);
  });

  test.each<[FindingCode, string]>([
    ["secret_is_api_key", "svc_live_0123456789abcdef01234567"],
    ["secret_is_api_key", '"svc_test_0123456789abcdef01234567"'],
    ["secret_is_endpoint_id", "whe_0123456789abcdef01234567"],
    ["secret_has_other_length", SECRET.slice(0, -3)],
  ])("the explanation names the mistake %s without a matching signature: %j", (code, secret) => {
    expect(codes(explain({ secrets: secret }))).toEqual([code, "secret_unknown"]);
  });

  test("the explanation says that a secret of the right form does not match, as text or as a key object", () => {
    const other = `whsec_${"x".repeat(43)}`;
    expect(codes(explain({ secrets: other }))).toEqual(["secret_unknown"]);
    expect(codes(explain({ secrets: [createSecretKey(Buffer.from(other))] }))).toEqual(["secret_unknown"]);
    expect(explain({ secrets: [other, other] }).summary).toContain("any of the 2 secrets");
  });
});

describe("explaining the body", () => {
  test.each<[FindingCode, string, string | Buffer, string | Buffer]>([
    ["body_reserialised", "written compactly", COMPACT, PRETTY],
    ["body_reserialised", "pretty-printed with 2 spaces", PRETTY, COMPACT],
    ["body_reserialised", "pretty-printed with 2 spaces", `${PRETTY}\n`, COMPACT],
    ["body_trailing_newline", "with a line end at its end, which was lost", `${COMPACT}\n`, COMPACT],
    ["body_trailing_newline", "with a line end at its end, which was lost", `${COMPACT}\r\n`, COMPACT],
    ["body_trailing_newline", "without the line end at its end, which was added", COMPACT, `${COMPACT}\n`],
    ["body_base64", "base64-decoded body", COMPACT, Buffer.from(COMPACT).toString("base64")],
  ])("the explanation names %s if the signature was made for a body %s (row %#)", (code, words, signedBody, body) => {
    const explanation = explain({ body }, { body: signedBody });
    expect(codes(explanation)).toEqual([code]);
    expect(explanation.findings[0]?.message).toContain(words);
    expect(explanation.summary).toBe(`Not accepted (mismatch): ${explanation.findings[0]?.message}`);
  });

  test.each<[FindingCode, string | Buffer]>([
    ["body_empty", ""],
    ["body_empty", Buffer.alloc(0)],
    ["body_stringified_object", "[object Object]"],
    ["body_lost_characters", '{"a":"\uFFFD"}'],
    ["body_lost_characters", Buffer.from('{"a":"\uFFFD"}')],
  ])("the explanation names %s without a matching signature: %j", (code, body) => {
    expect(codes(explain({ body }, { body: Buffer.from([0xff, 0x00]) }))).toEqual([code, "secret_unknown"]);
  });

  test("the explanation covers large bodies, and JSON that is too deeply nested to be written again", () => {
    const deep = "[".repeat(50_000) + "]".repeat(50_000);
    expect(codes(explain({ body: deep }, { body: "other" }))).toEqual(["secret_unknown"]);
    const large = `"${"x".repeat(300_000)}"`;
    expect(codes(explain({ body: large }, { body: `${large}\n` }))).toEqual(["body_trailing_newline"]);
  });
});

test("the explanation names both of two causes", () => {
  const explanation = explain({ secrets: `${SECRET}\n`, body: COMPACT }, { body: PRETTY });
  expect(codes(explanation)).toEqual(["secret_has_whitespace", "body_reserialised"]);
});

describe("explaining the timestamp", () => {
  const headers = (sent: string, signedText: string) => ({
    "x-svc-signature": `t=${sent},v1=${hmac(SECRET, `${signedText}${COMPACT}`)}`,
  });

  test.each<[FindingCode, string, VerifySignatureInput["headers"]]>([
    ["timestamp_unit", "seconds sent, milliseconds signed", headers("1700000000", "1700000000000.")],
    ["timestamp_unit", "milliseconds sent, seconds signed", headers("1700000000123", "1700000000.")],
    ["timestamp_unit", "seconds sent, ISO 8601 signed", headers("1700000000", "2023-11-14T22:13:20.000Z.")],
    ["timestamp_unit", "ISO 8601 sent, seconds signed", headers("2023-11-14T22:13:20Z", "1700000000.")],
    ["timestamp_not_signed", "the body alone", headers("1700000000", "")],
  ])("the explanation names %s for this timestamp: %s", (code, _name, headers) => {
    expect(codes(explain({ headers }))).toEqual([code]);
  });

  test.each([
    [301, "clock_ahead", "301 seconds before this machine's clock", "this machine's clock is ahead"],
    [-301, "clock_behind", "301 seconds ahead of this machine's clock", "This machine's clock is behind"],
  ])("the explanation of a timestamp that is %i seconds off is %s", (skew, code, message, fix) => {
    const explanation = explain({ nowMs: NOW + skew * 1000 });
    expect(codes(explanation)).toEqual([code]);
    expect(explanation.findings[0]?.message).toContain(message);
    expect(explanation.findings[0]?.message).toContain("2023-11-14T22:13:20.000Z");
    expect(explanation.findings[0]?.fix).toContain(fix);
  });

  test("the explanation of a time in 1970 says that seconds were divided once more", () => {
    expect(codes(explain({}, { timestamp: 1_700_000_000 }))).toEqual(["timestamp_unit"]);
  });

  test("the explanation of a mismatch outside the time window says both", () => {
    expect(codes(explain({ secrets: `${SECRET}\n`, nowMs: NOW + 400_000 }))).toEqual([
      "secret_has_whitespace",
      "clock_ahead",
    ]);
  });
});

describe("explaining headers that cannot be read", () => {
  const value = "0".repeat(64);
  test.each<[FindingCode[], string, Record<string, string | string[]>, string]>([
    [["signature_missing"], "none", {}, "no header x-svc-signature"],
    [["signature_malformed"], "empty", { "x-svc-signature": "" }, "is empty"],
    [["signature_malformed"], "too long", { "x-svc-signature": "CANARY".repeat(1000) }, "longer than 4096"],
    [["signature_malformed"], "no value", { "x-svc-signature": "t=1" }, "a time and no signature"],
    [["signature_malformed"], "junk", { "x-svc-signature": "CANARY" }, "no value that is 32 bytes"],
    [["signature_malformed"], "its shape", { "x-svc-signature": "v1=CANARY" }, "v1=6 letters"],
    [["timestamp_missing"], "no time", { "x-svc-signature": value }, "no t= in it and no header x-svc-timestamp"],
    [["timestamp_malformed"], "empty time", { "x-svc-signature": `t=,v1=${value}` }, "is empty"],
    [["timestamp_malformed"], "two times", { "x-svc-signature": value, "x-svc-timestamp": ["1", "2"] }, "several"],
    [["timestamp_malformed"], "decimal", { "x-svc-signature": `t=1700000000.5,v1=${value}` }, "decimal point"],
    [["timestamp_malformed"], "no zone", { "x-svc-signature": `t=2023-11-14T22:13:20,v1=${value}` }, "time zone"],
    [["timestamp_malformed"], "junk time", { "x-svc-signature": `t=CANARY,v1=${value}` }, "neither digits nor"],
    [["timestamp_unit"], "microseconds", { "x-svc-signature": `t=1700000000000000,v1=${value}` }, "16 digits"],
  ])("the explanation names %j for headers with this mistake: %s", (expected, _name, headers, words) => {
    const explanation = explain({ headers });
    expect(explanation.ok).toBe(false);
    expect(codes(explanation)).toEqual(expected);
    expect(explanation.findings[0]?.message).toContain(words);
    expect(JSON.stringify(explanation)).not.toContain("CANARY");
    expect(JSON.stringify(explanation)).not.toContain(value);
  });

  test("the explanation names the assumed place of the timestamp", () => {
    const headers = { "x-svc-signature": value };
    const message = (timestampIn: "signature" | "header") =>
      explain({ headers, assumptions: { timestampIn } }).findings[0]?.message;
    expect(message("signature")).toContain("there is no t= in it.");
    expect(message("header")).toContain("there is no header x-svc-timestamp.");
  });
});

test("the explanation contains no secret, no signature and no part of the body", () => {
  const bare = SECRET.slice("whsec_".length);
  const secrets = [SECRET, `${SECRET}\n`, `"${SECRET}"`, bare, `svc_live_${bare}`, `whe_${bare}`, SECRET.slice(0, 30)];
  const bodies = [COMPACT, PRETTY, `${COMPACT}\n`, JSON.stringify(COMPACT), "CANARYbody"];
  let seen = 0;
  for (const secret of secrets) {
    for (const body of bodies) {
      for (const skew of [0, 400_000, -400_000]) {
        const headers = signDelivery({ body: COMPACT, secret: SECRET, timestamp: NOW });
        const explanation = explainSignature({ body, headers, secrets: secret, nowMs: NOW + skew });
        const text = JSON.stringify(explanation);
        expect(text).not.toContain("CANARY");
        expect(text).not.toContain(headers["x-svc-signature"]?.split("v1=")[1]);
        seen += explanation.findings.length;
      }
    }
  }
  expect(seen).toBeGreaterThan(100);
});
