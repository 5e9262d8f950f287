import { createHmac, createSecretKey } from "node:crypto";
import { deliveryMac } from "#pigeonhole/protocol/delivery-mac.js";
import { verifyParsed } from "#pigeonhole/protocol/verify-signature.js";
import { signDelivery, verifySignature } from "pigeonhole/protocol";
import { describe, expect, test } from "vitest";

const repeated = (byte: number, times: number): Buffer => Buffer.alloc(times, byte);

// RFC 4231 §4.2 to §4.8, HMAC-SHA-256. Case 5 shows the first 128 bits only.
const RFC_4231 = [
  {
    name: "case 1",
    key: repeated(0x0b, 20),
    data: Buffer.from("Hi There"),
    mac: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
  },
  {
    name: "case 2, a short key",
    key: Buffer.from("Jefe"),
    data: Buffer.from("what do ya want for nothing?"),
    mac: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
  },
  {
    name: "case 3",
    key: repeated(0xaa, 20),
    data: repeated(0xdd, 50),
    mac: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
  },
  {
    name: "case 4",
    key: Buffer.from("0102030405060708090a0b0c0d0e0f10111213141516171819", "hex"),
    data: repeated(0xcd, 50),
    mac: "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
  },
  {
    name: "case 5, truncated",
    key: repeated(0x0c, 20),
    data: Buffer.from("Test With Truncation"),
    mac: "a3b6167473100ee06e0c796c2955552b",
  },
  {
    name: "case 6, a key longer than a block",
    key: repeated(0xaa, 131),
    data: Buffer.from("Test Using Larger Than Block-Size Key - Hash Key First"),
    mac: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
  },
  {
    name: "case 7, key and data longer than a block",
    key: repeated(0xaa, 131),
    data: Buffer.from(
      "This is a test using a larger than block-size key and a larger than block-size data. " +
        "The key needs to be hashed before being used by the HMAC algorithm.",
    ),
    mac: "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
  },
];

// The data of the RFC starts with no timestamp, so the MAC function is asked itself; case 7 holds a dot where a parsed
// header can stand in front, and goes through the verification as well.
describe("the MAC of a delivery is HMAC-SHA-256", () => {
  test.each(RFC_4231)("the MAC of RFC 4231 $name is the same wherever prefix and body meet", ({ key, data, mac }) => {
    expect(deliveryMac(key, "", data).toString("hex").slice(0, mac.length)).toBe(mac);
    if (data.every((byte) => byte < 0x80)) {
      const split = Math.floor(data.length / 3);
      const parts = [data.subarray(0, split).toString(), data.subarray(split)] as const;
      expect(
        deliveryMac(key, ...parts)
          .toString("hex")
          .slice(0, mac.length),
      ).toBe(mac);
    }
  });

  test("the MAC of RFC 4231 case 7 verifies, split at its first dot", () => {
    const { key, data, mac } = RFC_4231[6] ?? { key: "", data: "", mac: "" };
    const text = data.toString();
    const dot = text.indexOf(".");
    const signatures = [Buffer.from(mac, "hex")];
    const parsed = {
      ok: true,
      timestampText: text.slice(0, dot),
      signedAt: 0,
      timestampFrom: "signature",
      signatures,
    } as const;
    const secrets = [createSecretKey(Buffer.from(key))];
    expect(verifyParsed(parsed, text.slice(dot + 1), secrets, 0, 300)).toMatchObject({ ok: true, secretIndex: 0 });
    expect(verifyParsed(parsed, text.slice(dot + 2), secrets, 0, 300)).toMatchObject({ reason: "mismatch" });
  });
});

// printf '<timestamp>.<body>' | openssl dgst -sha256 -hmac 'whsec_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_abcde' -r
const SECRET = "whsec_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_abcde";
const OPENSSL: { timestamp: string; body: string | Buffer; mac: string }[] = [
  // printf '1700000000.{"id":"evt_1","type":"email.sent"}'
  {
    timestamp: "1700000000",
    body: '{"id":"evt_1","type":"email.sent"}',
    mac: "958f7a4b5fdcb6e5265342d826c872af44ed361785067de58cfbcf4576710741",
  },
  // printf '1700000000.'
  { timestamp: "1700000000", body: "", mac: "c7381836de0b2f2f8a741b2e9f791b8637048cfd3fe490f9cd84d273a1e9cf16" },
  // printf '2023-11-14T22:13:20Z.price: $$ and $& \xe2\x82\xac\n'
  {
    timestamp: "2023-11-14T22:13:20Z",
    body: "price: $$ and $& €\n",
    mac: "b3131498bd6dc36e7b833ea58169962ef77d64b0a8c09a4c7a29a7e612bc1cb7",
  },
  // printf '1700000000123.\x00\xff\xfe'
  {
    timestamp: "1700000000123",
    body: Buffer.from([0x00, 0xff, 0xfe]),
    mac: "b4c748ff6e0e7ff7051ed1a8561aaa4d0859495fa614c733cf4c4cd4689835be",
  },
  // printf '1700000000.body', with -binary | base64 in place of -r
  { timestamp: "1700000000", body: "body", mac: "+yhD9Yt5BCKXNaDsy0CBSmbPMUBKxV+SZQA8Lkjtdj8=" },
];

describe("signatures made with openssl", () => {
  test.each(OPENSSL)(
    "the signature that openssl makes for $timestamp (row %#) verifies, and is what signDelivery writes",
    ({ timestamp, body, mac }) => {
      const encoding = mac.length === 64 ? "hex" : "base64";
      const headers = { "x-svc-signature": `t=${timestamp},v1=${mac}` };
      expect(signDelivery({ body, secret: SECRET, timestamp, encoding })).toEqual(headers);
      const input = { body, headers, secrets: SECRET, nowMs: 1_700_000_000_999 };
      expect(verifySignature(input)).toMatchObject({ ok: true, skewSeconds: 0, secretIndex: 0 });
    },
  );

  test("a key object of the whole secret gives the same MAC as its text", () => {
    const headers = signDelivery({ body: "{}", secret: SECRET, timestamp: 1_700_000_000_000 });
    const secrets = [createSecretKey(Buffer.from(SECRET))];
    expect(verifySignature({ body: "{}", headers, secrets, nowMs: 1_700_000_000_000 })).toMatchObject({ ok: true });
    const expected = createHmac("sha256", SECRET).update("1700000000.{}").digest("hex");
    expect(headers["x-svc-signature"]).toBe(`t=1700000000,v1=${expected}`);
  });
});
