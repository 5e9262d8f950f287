import { createHmac } from "node:crypto";
import { SIGNATURE_ASSUMPTIONS, type SignatureAssumptions } from "#pigeonhole/protocol/signature-assumptions.js";
import { parseSignature } from "#pigeonhole/protocol/parse-signature.js";
import { describe, expect, test } from "vitest";

const digest = createHmac("sha256", "any").digest();
const hex = digest.toString("hex");
const base64 = digest.toString("base64");
const base64url = digest.toString("base64url");
const T = "1700000000";
const READ = { ok: true, timestampText: T, signedAt: 1_700_000_000_000, signatures: [digest] };

function parse(signature: string | undefined, timestamp?: string, changes: Partial<SignatureAssumptions> = {}) {
  const headers: Record<string, string | undefined> = { "x-svc-signature": signature, "x-svc-timestamp": timestamp };
  return parseSignature((name) => headers[name], { ...SIGNATURE_ASSUMPTIONS, ...changes });
}

test("the digest of these tests has both characters in which base64 and base64url differ", () => {
  expect(base64).not.toBe(`${base64url}=`);
});

describe("the two documented layouts", () => {
  test.each([
    ["hex", `t=${T},v1=${hex}`],
    ["hex in upper case", `t=${T},v1=${hex.toUpperCase()}`],
    ["base64", `t=${T},v1=${base64}`],
    ["base64 without padding", `t=${T},v1=${base64.slice(0, -1)}`],
    ["base64url", `t=${T},v1=${base64url}`],
    ["base64url with padding", `t=${T},v1=${base64url}=`],
    ["the time last", `v1=${hex},t=${T}`],
    ["spaces and tabs between", ` t=${T} ,\t v1=${hex} `],
    ["unknown keys", `t=${T},v0=abc,v1=${hex},key-id=1,v2=`],
  ])("the combined layout is read: %s", (_name, header) => {
    expect(parse(header)).toEqual({ ...READ, timestampFrom: "signature" });
  });

  test.each([
    ["hex", hex],
    ["base64", base64],
    ["base64 without padding", base64.slice(0, -1)],
    ["base64url", base64url],
    ["sha256=", `sha256=${hex}`],
    ["sha256= and base64", `sha256=${base64}`],
    ["v1=", `v1=${base64}`],
    ["v1,", `v1,${base64}`],
    ["v1= and an unknown key", `v1=${hex},k=2`],
  ])("the bare layout with a separate time is read: %s", (_name, header) => {
    expect(parse(header, ` ${T}\t`)).toEqual({ ...READ, timestampFrom: "header" });
  });

  test("several v1 values are all kept, in order", () => {
    const other = Buffer.alloc(32, 7);
    expect(parse(`t=${T},v1=${other.toString("hex")},v1=${base64}`)).toMatchObject({ signatures: [other, digest] });
  });

  test("the time t= is used if X-Svc-Timestamp is present as well", () => {
    expect(parse(`t=${T},v1=${hex}`, "1600000000")).toMatchObject({ timestampText: T, timestampFrom: "signature" });
    expect(parse(`t=${T},v1=${hex}`, "junk")).toMatchObject({ timestampText: T });
  });
});

describe("the layouts of other senders", () => {
  const other = Buffer.alloc(32, 7);
  test.each<[string, string, readonly Buffer[]]>([
    ["the header twice", `t=${T},v1=${hex}, t=${T},v1=${hex}`, [digest, digest]],
    ["t= twice", `t=${T},t=${T},v1=${hex}`, [digest]],
    ["keys in capitals", `T=${T},V1=${hex}`, [digest]],
    ["ts= and semicolons", `ts=${T};h1=${hex}`, [digest]],
    ["timestamp= and signature=", `timestamp=${T}&signature=${base64}`, [digest]],
    ["quotation marks", `t="${T}", v1="${base64}"`, [digest]],
    ["parameters of an HTTP signature", `keyId="a",t="${T}",signature="${base64}"`, [digest]],
    ["another version's key", `t=${T},v0=${hex}`, [digest]],
    ["a value without a key", `t=${T},${base64}`, [digest]],
    ["spaces for commas", `t=${T} v1=${hex} v1=${other.toString("hex")}`, [digest, other]],
    ["keys of the first and the last letters and digits", `t=${T},azAZ09_-=${hex}`, [digest]],
    ["a key of 32 characters", `t=${T},${"k".repeat(32)}=${hex}`, [digest]],
    ["a list that ends in a comma", `,t=${T},,v1=${hex},`, [digest]],
    ["a value that cannot be read beside one that can", `t=${T},v1=junk,v1=${hex},v2=${hex}00`, [digest]],
    ["a time that cannot be read beside one that can", `t=junk,t=${T},v1=${hex}`, [digest]],
  ])("another sender's layout with the time inside is read: %s", (_name, header, signatures) => {
    expect(parse(header)).toMatchObject({ ok: true, timestampText: T, timestampFrom: "signature", signatures });
  });

  test.each<[string, string, readonly Buffer[]]>([
    ["a list of v1,", `v1,${base64} v1,${other.toString("base64")}`, [digest, other]],
    ["a list of v1, and v1a,", `v1a,${Buffer.alloc(64).toString("base64")} v1,${base64}`, [digest]],
    ["v1, twice", `v1,${base64}, v1,${base64}`, [digest, digest]],
    ["hex twice", `${hex}, ${hex}`, [digest, digest]],
    ["sha256= twice", `sha256=${hex}, sha256=${hex}`, [digest, digest]],
    ["sha1= beside sha256=", `sha1=${hex.slice(0, 40)}, sha256=${hex}`, [digest]],
    ["a scheme in front", `HMAC-SHA256 ${base64}`, [digest]],
    ["hmac-sha256=", `hmac-sha256=${hex}`, [digest]],
    ["quotation marks", `"${hex}"`, [digest]],
    ["a time that cannot be read in it", `t=junk,v1=${hex}`, [digest]],
  ])("another sender's layout with a separate time is read: %s", (_name, header, signatures) => {
    expect(parse(header, T)).toMatchObject({ ok: true, timestampText: T, timestampFrom: "header", signatures });
    expect(parse(header, `${T}, ${T}`)).toMatchObject({ ok: true, timestampText: T });
  });
});

describe("headers without a readable signature", () => {
  test.each([
    ["", "empty"],
    [" \t ", "empty"],
    [",".repeat(4096), "empty"],
    ["x".repeat(4097), "too_long"],
    [`t=${T},v1=${hex},k=${"x".repeat(4096)}`, "too_long"],
    [`t=${T}`, "no_signature"],
    [`t=${T},t=${T}`, "no_signature"],
    [`t=${T},v1=`, "undecodable_signature"],
    [`t=${T},v1=junk`, "undecodable_signature"],
    [`${T}.${hex}`, "undecodable_signature"],
    [`v1:${hex}`, "undecodable_signature"],
    [`sig1=:${base64}:`, "undecodable_signature"],
    [`eyJhbGciOiJIUzI1NiJ9.e30.${base64}`, "undecodable_signature"],
    ["v1,", "undecodable_signature"],
    ["sha256=", "undecodable_signature"],
    ["null", "undecodable_signature"],
    [`sha512=${hex}${hex}`, "undecodable_signature"],
  ])("a header that cannot be read is refused: %j, %s", (header, error) => {
    expect(parse(header, T)).toEqual({ ok: false, reason: "malformed_signature", error });
  });

  test("a header of 4096 characters is still read", () => {
    const header = `t=${T},v1=${hex},k=`;
    expect(parse(header.padEnd(4096, "x"))).toMatchObject({ ok: true });
  });

  test.each([
    ["hex, one short", hex.slice(1)],
    ["hex, one long", `${hex}0`],
    ["hex with a letter past f", `g${hex.slice(1)}`],
    ["hex with a fullwidth digit", `０${hex.slice(1)}`],
    ["hex with a character whose low byte is a digit", `\u0130${hex.slice(1)}`],
    ["base64, one short", base64.slice(1)],
    ["base64, two paddings", `${base64}=`],
    ["base64 with junk behind", `${base64}!!!`],
    ...Array.from("./:@[`{", (character): [string, string] => [`a key with ${character}`, `k${character}=${hex}`]),
    ["base64 under a key that is too long", `${"k".repeat(33)}=${base64}`],
    ["base64 with junk that Node skips", `${base64.slice(0, 20)}*${base64.slice(20, -1)}`],
    ["base64 with a line end", `${base64.slice(0, 20)}\n${base64.slice(20)}`],
    ["base64 that sets the unused bits", `${Buffer.alloc(32).toString("base64").slice(0, 42)}B=`],
    ["both alphabets at once", `+-${Buffer.alloc(32).toString("base64").slice(2)}`],
    ["the base64 of 31 bytes", digest.subarray(1).toString("base64")],
    ["the base64 of 33 bytes", Buffer.alloc(33).toString("base64")],
    ["the base64 of the hex", Buffer.from(hex).toString("base64")],
    ["a whole SHA-512", Buffer.alloc(64).toString("hex")],
  ])("a value that is not exactly 32 bytes in one spelling is refused: %s", (_name, value) => {
    const malformed = { ok: false, reason: "malformed_signature", error: "undecodable_signature" };
    expect(parse(value, T)).toEqual(malformed);
    expect(parse(`t=${T},v1=${value}`)).toEqual(malformed);
  });

  test("a request without the header is refused", () => {
    expect(parse(undefined, T)).toEqual({ ok: false, reason: "missing_signature" });
  });

  test("a signature without a time is refused", () => {
    expect(parse(hex)).toEqual({ ok: false, reason: "missing_timestamp" });
    expect(parse(`v1=${hex}`)).toEqual({ ok: false, reason: "missing_timestamp" });
    expect(parse(`{"t":${T},"v1":"${hex}"}`)).toEqual({ ok: false, reason: "missing_timestamp" });
  });

  test.each(["", "junk", "1700000000123456", "2023-02-30T00:00:00Z"])("the time %j is refused", (time) => {
    const malformed = { ok: false, reason: "malformed_timestamp" };
    expect(parse(hex, time)).toEqual(malformed);
    expect(parse(`t=${time},v1=${hex}`)).toEqual(malformed);
  });

  test("two different times are refused, since it is unknown which was signed", () => {
    const malformed = { ok: false, reason: "malformed_timestamp" };
    expect(parse(hex, "1700000000, 1700000001")).toEqual(malformed);
    expect(parse(`t=1700000000,t=1700000001,v1=${hex}`)).toEqual(malformed);
  });
});

describe("the assumptions", () => {
  test("the assumption timestampIn: signature ignores the timestamp header", () => {
    expect(parse(hex, T, { timestampIn: "signature" })).toEqual({ ok: false, reason: "missing_timestamp" });
    expect(parse(`t=${T},v1=${hex}`, undefined, { timestampIn: "signature" })).toMatchObject({ ok: true });
  });

  test("the assumption timestampIn: header ignores t=", () => {
    const changes = { timestampIn: "header" } as const;
    expect(parse(`t=1,v1=${hex}`, T, changes)).toMatchObject({ timestampText: T, timestampFrom: "header" });
    expect(parse(`t=${T},v1=${hex}`, undefined, changes)).toEqual({ ok: false, reason: "missing_timestamp" });
  });

  test("the assumption encodings limits what is read", () => {
    const malformed = { reason: "malformed_signature", error: "undecodable_signature" };
    expect(parse(hex, T, { encodings: ["base64"] })).toMatchObject(malformed);
    expect(parse(base64, T, { encodings: ["hex", "base64url"] })).toMatchObject(malformed);
    expect(parse(base64url, T, { encodings: ["base64url"] })).toMatchObject({ ok: true });
    expect(parse(base64url, T, { encodings: ["base64"] })).toMatchObject(malformed);
  });

  test("the assumptions can name other headers", () => {
    const headers: Record<string, string> = { "x-other": hex, "x-when": T };
    const changes = { ...SIGNATURE_ASSUMPTIONS, signatureHeader: "x-other", timestampHeader: "x-when" };
    expect(parseSignature((name) => headers[name], changes)).toMatchObject({ ok: true, timestampText: T });
  });
});
