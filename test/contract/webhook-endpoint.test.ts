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
  const words = (text: string) => text.trim().split(/\s+/);
  const allowed = words(`
    example.com example.com:8443/hooks?a=1 localhost.example.com mylocalhost internal internal.example.com
    example.com.local.example bücher.example EXAMPLE.COM 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0
    126.255.255.255 128.0.0.1 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0
    223.255.255.255 [2606:4700::1111] [::ffff:8.8.8.8] [fbff::1] [fe00::1]`);
  test.each(allowed)("the URL of an endpoint may be https://%s", (host) => {
    expect(isAllowedWebhookUrl(`https://${host}`)).toBe(true);
    expect(isAllowedWebhookUrl(`HTTPS://${host}/`)).toBe(true);
    expect(isAllowedWebhookUrl(`http://${host}`)).toBe(false);
  });

  const refused = Object.entries({
    localhost: "localhost localhost. localhost.. app.localhost",
    "name of an inner network": "metadata.google.internal a.internal. printer.local",
    loopback: "127.0.0.1 127.255.255.255 127.0.0.1. [::1] [::ffff:127.0.0.1] [::127.0.0.1] [64:ff9b::7f00:1]",
    "this network": "0.0.0.0 0 [::]",
    private: "10.0.0.0 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 192.168.255.255 [::ffff:c0a8:1]",
    "link-local": "169.254.169.254 [fe80::1] [febf::1]",
    "unique-local": "[fc00::1] [fdff:ffff::1]",
    "carrier-grade NAT": "100.64.0.0 100.127.255.255",
    multicast: "224.0.0.1 239.255.255.255 [ff02::1]",
    "credentials before loopback": "example.com@127.0.0.1",
  }).flatMap(([what, hosts]) => words(hosts).map((host) => [what, `https://${host}/`]));
  const noUrls = ["example.com/hooks", "", "ftp://example.com/", "javascript:alert(1)"].map((text) => ["no URL", text]);
  test.each([...refused, ...noUrls])("the URL of an endpoint may not be %s: %s", (_, text = "") => {
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
