import { signDelivery, verifySignature, type SignDeliveryInput } from "pigeonhole/protocol";
import { describe, expect, test } from "vitest";

const SECRET = `whsec_${"k".repeat(43)}`;
const NOW = 1_700_000_000_999;
const sign = (changes: Partial<SignDeliveryInput> = {}) =>
  signDelivery({ body: "{}", secret: SECRET, timestamp: NOW, ...changes });

describe("signDelivery", () => {
  test("signDelivery writes t= in whole seconds and v1= in hex by default", () => {
    expect(Object.keys(sign())).toEqual(["x-svc-signature"]);
    expect(sign()["x-svc-signature"]).toMatch(/^t=1700000000,v1=[0-9a-f]{64}$/);
  });

  test("signDelivery writes the bare layout as the value alone, with the time in its own header", () => {
    const headers = sign({ format: "bare" });
    expect(headers["x-svc-signature"]).toMatch(/^[0-9a-f]{64}$/);
    expect(headers["x-svc-timestamp"]).toBe("1700000000");
  });

  test("signDelivery uses the current time if none is given", () => {
    const before = Math.floor(Date.now() / 1000);
    const time = Number(/^t=(\d+),/.exec(signDelivery({ body: "", secret: SECRET })["x-svc-signature"] ?? "")?.[1]);
    expect(time).toBeGreaterThanOrEqual(before);
    expect(time).toBeLessThanOrEqual(Date.now() / 1000);
  });

  test("signDelivery follows the assumptions", () => {
    const assumptions = {
      signatureHeader: "X-Sig",
      timestampHeader: "X-Time",
      timestampIn: "header",
      encodings: ["base64url"],
    } as const;
    const headers = sign({ assumptions });
    expect(headers).toEqual({ "x-sig": expect.stringMatching(/^[A-Za-z0-9_-]{43}$/), "x-time": "1700000000" });
    const input = { body: "{}", headers, secrets: SECRET, nowMs: NOW };
    expect(verifySignature({ ...input, assumptions })).toMatchObject({ ok: true });
    expect(verifySignature(input)).toMatchObject({ reason: "missing_signature" });
  });

  const formats = ["combined", "bare"] as const;
  const encodings = ["hex", "base64", "base64url"] as const;
  const timestamps = [NOW, "1700000000", "1700000000123", "2023-11-14T22:13:20.000Z"];
  const table = formats.flatMap((format) =>
    encodings.flatMap((encoding) => timestamps.map((timestamp) => ({ format, encoding, timestamp }))),
  );
  test.each(table)("the signature that signDelivery writes verifies: $format $encoding $timestamp", (changes) => {
    const verdict = verifySignature({ body: "{}", headers: sign(changes), secrets: SECRET, nowMs: NOW });
    expect(verdict).toMatchObject({ ok: true, skewSeconds: 0 });
  });

  test("signDelivery signs a timestamp text unchanged, readable or not", () => {
    const headers = sign({ timestamp: "soon", format: "bare" });
    expect(headers["x-svc-timestamp"]).toBe("soon");
    const verdict = verifySignature({ body: "{}", headers, secrets: SECRET });
    expect(verdict).toEqual({ ok: false, reason: "malformed_timestamp" });
  });

  test.each([Number.NaN, -1, Infinity, "1\r\nx-evil: 1", "Ã"])("signDelivery refuses the timestamp %o", (timestamp) => {
    expect(() => sign({ timestamp })).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  });

  test("signDelivery refuses an empty secret and a parsed body", () => {
    expect(() => sign({ secret: "" })).toThrow(expect.objectContaining({ code: "invalid_secret" }));
    const misuse = () => Reflect.apply(signDelivery, undefined, [{ body: {}, secret: SECRET }]);
    expect(misuse).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  });
});
