import { createSecretKey } from "node:crypto";
import { deliveryMac } from "#pigeonhole/protocol/delivery-mac.js";
import { verifyParsed } from "#pigeonhole/protocol/verify-signature.js";
import { signDelivery, verifySignature } from "pigeonhole/protocol";
import { describe, expect, test } from "vitest";

// Test cases 2 and 7 of RFC 4231, HMAC-SHA-256: a key shorter and one longer than a block.
const RFC_4231 = [
  {
    name: "case 2, a short key",
    key: Buffer.from("Jefe"),
    data: Buffer.from("what do ya want for nothing?"),
    mac: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
  },
  {
    name: "case 7, key and data longer than a block",
    key: Buffer.alloc(131, 0xaa),
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
    expect(deliveryMac(key, "", data).toString("hex")).toBe(mac);
    const split = Math.floor(data.length / 3);
    expect(deliveryMac(key, data.subarray(0, split).toString(), data.subarray(split)).toString("hex")).toBe(mac);
  });

  test("the MAC of RFC 4231 case 7 verifies, split at its first dot", () => {
    const { key, data, mac } = RFC_4231[1] ?? { key: "", data: "", mac: "" };
    const text = data.toString();
    const dot = text.indexOf(".");
    const signatures = [Buffer.from(mac, "hex")];
    const timestampText = text.slice(0, dot);
    const parsed = { ok: true, timestampText, signedAt: 0, timestampFrom: "signature", signatures } as const;
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
  test.each(OPENSSL)("openssl signs $timestamp (row %#) as signDelivery does, and it verifies", (row) => {
    const { timestamp, body, mac } = row;
    const encoding = mac.length === 64 ? "hex" : "base64";
    const headers = { "x-svc-signature": `t=${timestamp},v1=${mac}` };
    expect(signDelivery({ body, secret: SECRET, timestamp, encoding })).toEqual(headers);
    const input = { body, headers, secrets: SECRET, nowMs: 1_700_000_000_999 };
    expect(verifySignature(input)).toMatchObject({ ok: true, skewSeconds: 0, secretIndex: 0 });
  });
});
