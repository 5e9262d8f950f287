import { inspect } from "node:util";
import { signDelivery, verifySignature, type SignatureVerdict } from "pigeonhole/protocol";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { referenceAccepts, type ReferenceInput } from "./reference-verifier.js";

const NOW = 1_700_000_000_000;

function verify({ body, signature, timestamp, secrets, nowMs }: ReferenceInput): SignatureVerdict {
  const headers: Record<string, string | undefined> = { "x-svc-signature": signature, "x-svc-timestamp": timestamp };
  return verifySignature({ body, headers, secrets, nowMs });
}

const secretArb = fc.oneof(fc.stringMatching(/^whsec_[A-Za-z0-9_-]{43}$/), fc.stringMatching(/^[!-~]{1,80}$/));
const bodyArb = fc
  .oneof(fc.uint8Array({ maxLength: 200 }), fc.json(), fc.constantFrom("", "$$", "$&", "$1", "\0", "a.b"))
  .map((body) => Buffer.from(body));
const skewArb = fc.oneof(
  fc.constantFrom(0, 299_999, 300_000, 300_001, 300_999, 301_000, -300_000, -300_001, -300_999, -301_000, 3_600_000),
  fc.integer({ min: -400_000, max: 400_000 }),
);
const timeArb = skewArb.chain((skew) =>
  fc.constantFrom(String(Math.floor((NOW - skew) / 1000)), String(NOW - skew), new Date(NOW - skew).toISOString()),
);

/** A delivery as some sender would sign it. */
const genuineArb: fc.Arbitrary<ReferenceInput> = fc
  .record({
    body: bodyArb,
    secrets: fc.array(secretArb, { minLength: 1, maxLength: 3 }),
    signer: fc.nat(),
    time: timeArb,
    encoding: fc.constantFrom("hex", "base64", "base64url"),
    layout: fc.nat(),
    extra: fc.constantFrom("", ",v0=1", " ,\tk=x=y", ",v2="),
  })
  .map(({ body, secrets, signer, time, encoding, layout, extra }): ReferenceInput => {
    const secret = secrets[signer % secrets.length] ?? "";
    const options = { body, secret, timestamp: time, format: "bare", encoding } as const;
    const value = signDelivery(options)["x-svc-signature"] ?? "";
    const decoy = signDelivery({ ...options, body: "decoy" })["x-svc-signature"] ?? "";
    const base = { body, secrets, nowMs: NOW, timestamp: undefined };
    const layouts = [
      { signature: `t=${time},v1=${value}${extra}` },
      { signature: `v1=${value}, t=${time}${extra}` },
      { signature: `t=${time},v1=${decoy},v1=${value}${extra}`, timestamp: "1" },
      { signature: `v1,${decoy} v1,${value}`, timestamp: `${time}, ${time}` },
      { signature: `t="${time}"; v1="${value}"` },
      { signature: `TS=${time};h1=${value}${extra}` },
      { signature: value, timestamp: time },
      ...["sha256=", "v1=", "v1,"].map((key) => ({ signature: `${key}${value}`, timestamp: ` ${time}\t` })),
    ];
    return { ...base, signature: value, ...layouts[layout % layouts.length] };
  });

type Mutation = (input: ReferenceInput) => ReferenceInput;

const JUNK = [" ", "\n", "\0", "\u{1F600}", ...`= == , ! a A 0 é t=1 v1= ,v1= $& ; & " ="`.split(" ")];

/** Changes one header text: a character replaced, removed or put in, its case, its end cut off, itself doubled. */
const textMutationArb = fc
  .record({
    kind: fc.constantFrom("replace", "insert", "remove", "cut", "upper", "lower", "twice"),
    at: fc.nat(),
    junk: fc.constantFrom(...JUNK),
  })
  .map(({ kind, at, junk }) => (text: string): string => {
    const position = text.length === 0 ? 0 : at % (text.length + 1);
    const [head, tail] = [text.slice(0, position), text.slice(position)];
    const edits = {
      replace: head + junk + tail.slice(1),
      insert: head + junk + tail,
      remove: head + tail.slice(1),
      cut: head,
      upper: text.toUpperCase(),
      lower: text.toLowerCase(),
      twice: `${text}, ${text}`,
    };
    return edits[kind];
  });

const mutationArb: fc.Arbitrary<Mutation> = fc.oneof(
  fc.constant<Mutation>((input) => input),
  textMutationArb.map((edit): Mutation => (input) => ({ ...input, signature: edit(input.signature ?? "") })),
  textMutationArb.map((edit): Mutation => (input) => ({ ...input, timestamp: edit(input.timestamp ?? "") })),
  fc.constantFrom<Mutation>(
    (input) => ({ ...input, signature: undefined }),
    (input) => ({ ...input, timestamp: undefined }),
    (input) => ({ ...input, secrets: input.secrets.slice(0, 1) }),
    (input) => ({ ...input, secrets: input.secrets.map((secret) => `${secret}x`) }),
    (input) => ({ ...input, body: input.body.subarray(1) }),
    (input) => ({ ...input, body: Buffer.concat([input.body, Buffer.from("\n")]) }),
  ),
  fc.nat().map((bit): Mutation => (input) => {
    const body = Buffer.from(input.body);
    const index = body.length === 0 ? 0 : (bit >> 3) % body.length;
    if (body.length > 0) body[index] = (body[index] ?? 0) ^ (1 << (bit & 7));
    return { ...input, body };
  }),
);

describe("verification against the reference", () => {
  test("verification accepts exactly what the reference verifier accepts, whatever is done to a delivery", () => {
    let accepted = 0;
    let refused = 0;
    fc.assert(
      fc.property(genuineArb, fc.array(mutationArb, { maxLength: 3 }), (genuine, mutations) => {
        const input = mutations.reduce((changed, mutate) => mutate(changed), genuine);
        const expected = referenceAccepts(input);
        if (expected) accepted += 1;
        else refused += 1;
        expect(verify(input).ok).toBe(expected);
      }),
      { numRuns: 5000 },
    );
    // Else the comparison would show little.
    expect(accepted).toBeGreaterThan(500);
    expect(refused).toBeGreaterThan(500);
  });

  test("any single bit flipped in body or signature causes a mismatch", () => {
    const secret = `whsec_${"k".repeat(43)}`;
    const body = Buffer.from('{"id":"evt_1"}');
    const bare = signDelivery({ body, secret, timestamp: NOW, format: "bare" });
    const digest = Buffer.from(bare["x-svc-signature"] ?? "", "hex");
    const flipped = (bytes: Buffer, bit: number): Buffer =>
      Buffer.from(bytes.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte)));
    const input = { body, signature: digest.toString("hex"), timestamp: "1700000000", secrets: [secret], nowMs: NOW };
    expect(verify(input)).toMatchObject({ ok: true });
    for (let bit = 0; bit < digest.length * 8; bit += 1) {
      const signature = flipped(digest, bit).toString("base64");
      expect(verify({ ...input, signature }), `signature bit ${bit}`).toMatchObject({ reason: "mismatch" });
    }
    for (let bit = 0; bit < body.length * 8; bit += 1) {
      expect(verify({ ...input, body: flipped(body, bit) }), `body bit ${bit}`).toMatchObject({ reason: "mismatch" });
    }
  });

  test("no part of a genuine value is accepted, from the front or the back", () => {
    const secret = `whsec_${"k".repeat(43)}`;
    const input = { body: Buffer.from("{}"), timestamp: "1700000000", secrets: [secret], nowMs: NOW };
    for (const encoding of ["hex", "base64", "base64url"] as const) {
      const signed = signDelivery({ body: input.body, secret, timestamp: NOW, format: "bare", encoding });
      const value = signed["x-svc-signature"] ?? "";
      expect(verify({ ...input, signature: value })).toMatchObject({ ok: true });
      for (let length = 0; length < value.length; length += 1) {
        for (const part of [value.slice(0, length), value.slice(value.length - length)]) {
          // Only the padding may be left out; and 43 hex digits are the base64 of another value.
          const unpadded = encoding === "base64" && part === value.slice(0, 43);
          const verdict = verify({ ...input, signature: part });
          expect(verdict.ok, `${encoding} ${length}`).toBe(unpadded);
          if (length !== 43) expect(verdict).toMatchObject({ reason: "malformed_signature" });
        }
      }
    }
  });
});

describe("verification never throws", () => {
  const anyText = fc.oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    fc.string({ unit: "grapheme" }),
    fc
      .array(fc.constantFrom(...JUNK, "t=1700000000", "0".repeat(64), "A".repeat(43)), { maxLength: 12 })
      .map((parts) => parts.join("")),
    fc.constantFrom("$$", "$&", "\0", "\ud800", "é".repeat(32), "t=1,v1=\u{1F600}"),
    fc.constantFrom("x".repeat(100_000), ",".repeat(100_000)),
  );

  test("verification never throws for any header texts and any body", () => {
    const headersArb = fc.record({
      "x-svc-signature": anyText,
      "x-svc-timestamp": fc.option(anyText, { nil: undefined }),
    });
    fc.assert(
      fc.property(headersArb, fc.oneof(bodyArb, anyText), (headers, body) => {
        expect(verifySignature({ body, headers, secrets: "whsec_any" }).ok).toBe(false);
      }),
      { numRuns: 3000 },
    );
  });

  test("verification never throws for a signature of 32 characters that are more bytes", () => {
    // stripe compares lengths as text and then throws a RangeError here.
    const headers = { "x-svc-signature": `t=1700000000,v1=${"é".repeat(64)}` };
    expect(verifySignature({ body: "{}", headers, secrets: "whsec_any" })).toMatchObject({
      reason: "malformed_signature",
    });
  });

  test("verification never throws for a body of 20 MB, or for bodies that a text replacement would change", () => {
    const large = Buffer.alloc(20 * 1024 * 1024, "$&");
    for (const body of [large, "$$", "$&", "$`", "$'", "$1"]) {
      const headers = signDelivery({ body, secret: "whsec_any", timestamp: NOW });
      expect(verifySignature({ body, headers, secrets: "whsec_any", nowMs: NOW })).toMatchObject({ ok: true });
    }
  });
});

test("no verdict contains the secret or the signature", () => {
  fc.assert(
    fc.property(genuineArb, mutationArb, (genuine, mutate) => {
      const canary = "whsec_CANARY-of-a-secret-that-nobody-may-see-0000";
      const input = { ...mutate(genuine), secrets: [canary] };
      const text = inspect(verify(input), { depth: null, showHidden: true });
      expect(text).not.toContain("CANARY");
      const value = /[A-Za-z0-9+/_-]{43,64}/.exec(genuine.signature ?? "")?.[0] ?? "none";
      expect(text).not.toContain(value);
    }),
  );
});
