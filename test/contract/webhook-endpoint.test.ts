import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EVENT_TYPES } from "pigeonhole/protocol";
import { CONTRACT } from "#pigeonhole/contract/contract.js";
import { checkInput } from "#pigeonhole/contract/check-input.js";
import { webhookId } from "#pigeonhole/contract/webhook-endpoint.js";
import { isAllowedWebhookUrl } from "#pigeonhole/contract/webhook-url.js";

const { create, update } = CONTRACT.webhooks;
const url = "https://app.example.com/hooks";

function verdict(row: typeof create | typeof update, input: unknown): string {
  const checked = checkInput(row.body, input, row.issueCodes);
  return checked.ok ? "ok" : `${checked.issue.code} ${checked.issue.param}`;
}

describe("an endpoint's URL", () => {
  test.each([
    "https://example.com",
    "https://example.com:8443/hooks?a=1",
    "https://localhost.example.com/",
    "https://mylocalhost/",
    "https://internal/",
    "https://internal.example.com/",
    "https://example.com.local.example/",
    "https://bücher.example/",
    "HTTPS://EXAMPLE.COM/",
    "https://8.8.8.8/",
    "https://9.255.255.255/",
    "https://11.0.0.0/",
    "https://100.63.255.255/",
    "https://100.128.0.0/",
    "https://126.255.255.255/",
    "https://128.0.0.1/",
    "https://169.253.255.255/",
    "https://169.255.0.0/",
    "https://172.15.255.255/",
    "https://172.32.0.0/",
    "https://192.167.255.255/",
    "https://192.169.0.0/",
    "https://223.255.255.255/",
    "https://[2606:4700::1111]/",
    "https://[::ffff:8.8.8.8]/",
    "https://[fbff::1]/",
    "https://[fe00::1]/",
  ])("the URL of an endpoint may be %s", (text) => {
    expect(isAllowedWebhookUrl(text)).toBe(true);
  });

  test.each([
    ["http", "http://example.com/"],
    ["no URL", "example.com/hooks"],
    ["empty", ""],
    ["another scheme", "ftp://example.com/"],
    ["javascript", "javascript:alert(1)"],
    ["localhost", "https://localhost/"],
    ["with a dot at the end", "https://localhost./"],
    ["with two dots at the end", "https://localhost../"],
    ["below localhost", "https://app.localhost/"],
    [".internal", "https://metadata.google.internal/"],
    [".internal with a dot", "https://a.internal./"],
    [".local", "https://printer.local/"],
    ["loopback", "https://127.0.0.1/"],
    ["the end of loopback", "https://127.255.255.255/"],
    ["loopback with a dot", "https://127.0.0.1./"],
    ["this network", "https://0.0.0.0/"],
    ["zero", "https://0/"],
    ["private 10", "https://10.0.0.0/"],
    ["the end of private 10", "https://10.255.255.255/"],
    ["private 172", "https://172.16.0.1/"],
    ["the end of private 172", "https://172.31.255.255/"],
    ["private 192", "https://192.168.0.1/"],
    ["the end of private 192", "https://192.168.255.255/"],
    ["link-local", "https://169.254.169.254/"],
    ["carrier-grade NAT", "https://100.64.0.0/"],
    ["the end of carrier-grade NAT", "https://100.127.255.255/"],
    ["multicast", "https://224.0.0.1/"],
    ["the end of multicast", "https://239.255.255.255/"],
    ["IPv6 loopback", "https://[::1]/"],
    ["IPv6 unspecified", "https://[::]/"],
    ["unique-local", "https://[fc00::1]/"],
    ["the end of unique-local", "https://[fdff:ffff::1]/"],
    ["IPv6 link-local", "https://[fe80::1]/"],
    ["the end of IPv6 link-local", "https://[febf::1]/"],
    ["IPv6 multicast", "https://[ff02::1]/"],
    ["mapped loopback", "https://[::ffff:127.0.0.1]/"],
    ["mapped private in hexadecimal", "https://[::ffff:c0a8:1]/"],
    ["IPv4-compatible loopback", "https://[::127.0.0.1]/"],
    ["NAT64 of loopback", "https://[64:ff9b::7f00:1]/"],
    ["credentials before loopback", "https://example.com@127.0.0.1/"],
  ])("the URL of an endpoint may not be %s: %s", (_, text) => {
    expect(isAllowedWebhookUrl(text)).toBe(false);
    expect(verdict(create, { url: text })).toBe("invalid_webhook_url url");
  });

  test("the URL of an endpoint may not be any IPv4 address in a private range, in any spelling", () => {
    const rest = fc.integer({ min: 0, max: 0xff_ff_ff });
    const spellings: ((address: number) => string)[] = [
      (address) => String(address),
      (address) => `0x${address.toString(16)}`,
      (address) => `0${address.toString(8)}`,
      (address) => `${address >>> 24}.${address & 0xff_ff_ff}`,
      (address) => `[::ffff:${(address >>> 16).toString(16)}:${(address & 0xff_ff).toString(16)}]`,
    ];
    fc.assert(
      fc.property(fc.constantFrom(10, 127), rest, fc.constantFrom(...spellings), (first, low, spell) => {
        expect(isAllowedWebhookUrl(`https://${spell(((first << 24) | low) >>> 0)}/`)).toBe(false);
      }),
    );
  });
});

describe("an endpoint's fields", () => {
  const many = (count: number, item: string) => Array.from({ length: count }, () => item);

  test.each([
    ["nothing but a URL", {}, "ok"],
    ["no URL", { url: undefined }, "invalid_parameter url"],
    ["a description of 200 characters", { description: "x".repeat(200) }, "ok"],
    ["a description of 201 characters", { description: "x".repeat(201) }, "invalid_parameter description"],
    ["a description of null", { description: null }, "invalid_parameter description"],
    ["50 addresses", { addressAllowlist: many(50, "a@b.example") }, "ok"],
    ["51 addresses", { addressAllowlist: many(51, "a@b.example") }, "invalid_parameter addressAllowlist"],
    ["a bad address", { addressAllowlist: ["a@b.example", "x"] }, "invalid_parameter addressAllowlist.1"],
    ["25 domains", { domainAllowlist: many(25, "b.example") }, "ok"],
    ["26 domains", { domainAllowlist: many(26, "b.example") }, "invalid_parameter domainAllowlist"],
    ["all event types", { eventTypes: EVENT_TYPES }, "ok"],
    ["no event types", { eventTypes: [] }, "ok"],
    ["a type newer than this package", { eventTypes: ["email.teleported"] }, "ok"],
    ["the star that is only read", { eventTypes: ["*"] }, "invalid_parameter eventTypes.0"],
    ["a pattern", { eventTypes: ["email.sent", "email.*"] }, "invalid_parameter eventTypes.1"],
    ["enabled, which is for updates", { enabled: true }, "unknown_parameter enabled"],
    ["a secret of one's own", { secret: "x" }, "unknown_parameter secret"],
  ])("the creation of an endpoint with %s is accepted or refused as documented", (_, change, expected) => {
    expect(verdict(create, { url, ...change })).toBe(expected);
  });

  test.each([
    ["nothing", {}, "ok"],
    ["a description of null", { description: null }, "ok"],
    ["enabled", { enabled: false }, "ok"],
    ["enabled as text", { enabled: "no" }, "invalid_parameter enabled"],
    ["the star that is only read", { eventTypes: ["*"] }, "invalid_parameter eventTypes.0"],
    ["a private URL", { url: "https://10.0.0.1" }, "invalid_webhook_url url"],
    ["an id", { id: "whe_0" }, "unknown_parameter id"],
  ])("the update of an endpoint with %s is accepted or refused as documented", (_, input, expected) => {
    expect(verdict(update, input)).toBe(expected);
  });
});

describe("identifiers", () => {
  test.each([
    [`whe_${"0a".repeat(12)}`, true],
    [`whe_${"0a".repeat(12)}0`, false],
    [`whe_${"0a".repeat(11)}0`, false],
    [`whe_${"0g".repeat(12)}`, false],
    [`whe_${"0a".repeat(12)}/../x`, false],
    ["0a".repeat(14), false],
  ])("the id %s is accepted or refused as documented", (id, expected) => {
    expect(webhookId.safeParse(id).success).toBe(expected);
  });

  test("the schema accepts an unusual secret in an answer, because it is shown only once", () => {
    const read = CONTRACT.webhooks.rotateSecret.result.parse({ id: "x", secret: "whsec_short" });
    expect([read.secret, read.description, read.eventTypes]).toEqual(["whsec_short", null, []]);
  });
});
