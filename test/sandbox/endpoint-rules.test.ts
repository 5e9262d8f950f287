import type { WebhookCreateInput, WebhookUpdateInput } from "#pigeonhole/contract/webhook-endpoint.js";
import { describe, expect, test } from "vitest";
import { START, openSandbox } from "./support.js";
import { refusalOf } from "../support/error-of.js";

const url = "https://app.example.com/hook";

describe("the creation of an endpoint", () => {
  test("a created endpoint has an id, a secret that is shown once, the default set, and the documented fields", () => {
    const sandbox = openSandbox();
    const { secret, ...endpoint } = sandbox.endpoints.create({ url });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9_-]{43}$/);
    expect(endpoint).toEqual({
      id: expect.stringMatching(/^whe_[0-9a-f]{24}$/),
      url,
      description: null,
      eventTypes: ["*"],
      enabled: true,
      disabledAt: null,
      disabledReason: null,
      consecutiveFailures: 0,
      addressAllowlist: [],
      domainAllowlist: [],
      lastDeliveryAt: null,
      createdAt: new Date(START).toISOString(),
    });
    expect(sandbox.endpoints.get(endpoint.id)).toEqual(endpoint);
    expect(sandbox.endpoints.list()).toEqual([endpoint]);
  });

  test("a created endpoint is the same for the same seed, and differs in id and secret without one", () => {
    const create = (seed?: number) => openSandbox(seed === undefined ? {} : { seed }).endpoints.create({ url });
    expect(create(1)).toEqual(create(1));
    expect(create(2).secret).not.toBe(create(1).secret);
    const unseeded = () => openSandbox({ seed: undefined as unknown as string }).endpoints.create({ url }).secret;
    expect(unseeded()).not.toBe(unseeded());
  });

  test("a created endpoint takes an existing secret of a receiver, and no other text", async () => {
    const sandbox = openSandbox();
    const secret = `whsec_${"a".repeat(43)}`;
    expect(sandbox.endpoints.create({ url }, { secret }).secret).toBe(secret);
    const refused = await refusalOf(() => sandbox.endpoints.create({ url }, { secret: "hush" }));
    expect(refused).toEqual({ code: "invalid_secret" });
  });

  test("a created endpoint has a normalised URL, lists in lower case, and no address whose domain is also listed", () => {
    const { endpoints } = openSandbox();
    expect(
      endpoints.create({
        url: "HTTPS://App.Example.com:443/a/../hook#part",
        eventTypes: ["email.sent", "email.sent"],
        addressAllowlist: ["Support@Acme.example.com", "billing@acme.example.com"],
        domainAllowlist: ["ACME.example.com"],
      }),
    ).toMatchObject({ url, eventTypes: ["email.sent"], addressAllowlist: [], domainAllowlist: ["acme.example.com"] });
  });
});

describe("endpoints that are refused", () => {
  const invalid = (param: string) => ({ status: 422, code: "invalid_parameter", param });

  test.each([
    ["with a URL that is none", { url: "app" }, { ...invalid("url"), code: "invalid_webhook_url" }],
    ["with a type that there is not", { url, eventTypes: ["email.sent", "email.lost"] }, invalid("eventTypes.1")],
    ["with a domain as an address", { url, addressAllowlist: ["*@acme.example.com"] }, invalid("addressAllowlist.0")],
    ["with a foreign address", { url, addressAllowlist: ["a@other.example.com"] }, invalid("addressAllowlist.0")],
    ["with an address as a domain", { url, domainAllowlist: ["a@acme.example.com"] }, invalid("domainAllowlist.0")],
    ["with words as a domain", { url, domainAllowlist: ["acme.example.com", "not one"] }, invalid("domainAllowlist.1")],
    ["with a name as a domain", { url, domainAllowlist: ["localhost"] }, invalid("domainAllowlist.0")],
  ])("an endpoint %s is refused", async (_, input, fault) => {
    const sandbox = openSandbox();
    expect(await refusalOf(() => sandbox.endpoints.create(input as WebhookCreateInput))).toEqual(fault);
    expect(sandbox.endpoints.list()).toEqual([]);
  });

  test("the thirteenth endpoint is refused by a limit of 12 that support has set, until one is deleted", async () => {
    const { endpoints } = openSandbox({ limits: { maxEndpoints: 12 } });
    for (let index = 0; index < 12; index += 1) endpoints.create({ url });
    expect(await refusalOf(() => endpoints.create({ url }))).toEqual({ status: 422, code: "workspace_limit_reached" });
    endpoints.delete(endpoints.list()[0]?.id ?? "");
    expect(endpoints.create({ url }).id).toMatch(/^whe_/);
  });
});

describe("URLs", () => {
  const LOCAL = ["http://app.example.com/", "http://127.0.0.1:3000/", "http://localhost/", "https://10.0.0.1/"];

  test.each(LOCAL)("a URL such as %s is accepted by default", (local) => {
    expect(openSandbox().endpoints.create({ url: local }).url).toBe(local);
  });

  test.each(LOCAL)("a URL such as %s is refused with strictUrls", async (local) => {
    const { endpoints } = openSandbox({ strictUrls: true });
    const fault = { status: 422, code: "invalid_webhook_url", param: "url" };
    expect(await refusalOf(() => endpoints.create({ url: local }))).toEqual(fault);
    const { id } = endpoints.create({ url });
    expect(await refusalOf(() => endpoints.update(id, { url: local }))).toEqual(fault);
  });
});

describe("an update", () => {
  test("an update changes the given fields and no others", () => {
    const { endpoints } = openSandbox();
    const { secret: _, ...created } = endpoints.create({ url, description: "one", eventTypes: ["email.sent"] });
    const update = (input: WebhookUpdateInput) => endpoints.update(created.id, input);
    expect(update({ description: "two" })).toEqual({ ...created, description: "two" });
    expect(update({ description: null })).toEqual({ ...created, description: null });
    expect(update({ eventTypes: [] }).eventTypes).toEqual(["*"]);
    expect(update({ domainAllowlist: ["acme.example.com"] }).domainAllowlist).toEqual(["acme.example.com"]);
    expect(update({ addressAllowlist: ["support@acme.example.com"] }).addressAllowlist).toEqual([]);
    expect(update({ addressAllowlist: [], domainAllowlist: [] })).toMatchObject({ domainAllowlist: [] });
    expect(update({ url: "https://other.example.com" })).toMatchObject({ url: "https://other.example.com/" });
  });

  test("an invalid update changes nothing", async () => {
    const { endpoints } = openSandbox();
    const { id } = endpoints.create({ url });
    await refusalOf(() => endpoints.update(id, { description: "new", addressAllowlist: ["a@other.example.com"] }));
    expect(endpoints.get(id).description).toBeNull();
  });
});
