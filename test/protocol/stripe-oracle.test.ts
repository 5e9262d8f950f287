import { signDelivery, verifySignature } from "pigeonhole/protocol";
import * as fc from "fast-check";
import { Stripe } from "stripe";
import { describe, expect, test } from "vitest";

// Stripe's v1 scheme is the same MAC: HMAC-SHA256 over `t.body`, keyed by the whole secret. It works on text, so the
// bodies here are text without lone surrogates.
const secretArb = fc.stringMatching(/^whsec_[A-Za-z0-9_-]{43}$/);
const bodyArb = fc.oneof(
  fc.json(),
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.constantFrom("", "$$", "$&", "\0"),
);
const secondsArb = fc.integer({ min: 1, max: 9_999_999_999 });

function stripeAccepts(body: string, header: string, secret: string, nowMs: number): boolean {
  try {
    return Stripe.webhooks.signature?.verifyHeader(body, header, secret, 300, undefined, nowMs) ?? false;
  } catch {
    return false;
  }
}

describe("the stripe package as an independent implementation", () => {
  test("the stripe package accepts what signDelivery signs, and nothing else", () => {
    fc.assert(
      fc.property(bodyArb, secretArb, secretArb, secondsArb, (body, secret, otherSecret, seconds) => {
        // An empty body is refused by stripe whatever its signature.
        fc.pre(secret !== otherSecret && body !== "");
        const nowMs = seconds * 1000;
        const header = signDelivery({ body, secret, timestamp: nowMs })["x-svc-signature"] ?? "";
        expect(stripeAccepts(body, header, secret, nowMs)).toBe(true);
        expect(stripeAccepts(body, header, otherSecret, nowMs)).toBe(false);
        expect(stripeAccepts(`${body} `, header, secret, nowMs)).toBe(false);
      }),
      { numRuns: 150 },
    );
  });

  test("the stripe package makes headers that verifySignature accepts, with the same text", () => {
    fc.assert(
      fc.property(bodyArb, secretArb, secretArb, secondsArb, (payload, secret, otherSecret, timestamp) => {
        fc.pre(secret !== otherSecret);
        const header = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
        const nowMs = timestamp * 1000;
        expect(signDelivery({ body: payload, secret, timestamp: nowMs })["x-svc-signature"]).toBe(header);
        const input = { body: payload, headers: { "x-svc-signature": header }, nowMs };
        expect(verifySignature({ ...input, secrets: secret })).toMatchObject({ ok: true, skewSeconds: 0 });
        expect(verifySignature({ ...input, secrets: otherSecret })).toMatchObject({ reason: "mismatch" });
      }),
      { numRuns: 150 },
    );
  });

  test("the stripe package agrees about the age of a delivery, except for future times, which it does not limit", () => {
    const secret = `whsec_${"k".repeat(43)}`;
    const headers = signDelivery({ body: "{}", secret, timestamp: 1_700_000_000_000 });
    const header = headers["x-svc-signature"] ?? "";
    for (const [skew, stripe, ours] of [
      [300, true, true],
      [301, false, false],
      [-301, true, false],
    ] as const) {
      const nowMs = 1_700_000_000_000 + skew * 1000;
      expect(stripeAccepts("{}", header, secret, nowMs), `stripe at ${skew}`).toBe(stripe);
      expect(verifySignature({ body: "{}", headers, secrets: secret, nowMs }).ok, `ours at ${skew}`).toBe(ours);
    }
  });
});
