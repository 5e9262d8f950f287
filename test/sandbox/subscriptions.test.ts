import { DEFAULT_EVENT_TYPES, EVENT_TYPES, EXPLICIT_EVENT_TYPES } from "pigeonhole/protocol";
import type { WebhookCreateInput } from "#pigeonhole/contract/webhook-endpoint.js";
import { describe, expect, test } from "vitest";
import { openSandbox } from "./support.js";
import { refusalOf } from "../support/error-of.js";

const SUPPORT = "support@acme.example.com";
const BILLING = "billing@acme.example.com";
const OTHER = "hello@other.example.com";

function receives(input: Omit<WebhookCreateInput, "url">, type: string, address?: string | string[]): boolean {
  const sandbox = openSandbox({ domains: ["acme.example.com", "other.example.com"], receive: () => new Response() });
  sandbox.endpoints.create({ url: "http://127.0.0.1/", ...input });
  return sandbox.emit(type, {}, address === undefined ? {} : { address }).deliveries.length === 1;
}

describe("event types of endpoints", () => {
  test.each(EVENT_TYPES)("an event of type %s reaches unnamed endpoints if it is in the default set", (type) => {
    expect(receives({}, type)).toBe((DEFAULT_EVENT_TYPES as readonly string[]).includes(type));
    expect(receives({ eventTypes: [] }, type)).toBe(!(EXPLICIT_EVENT_TYPES as readonly string[]).includes(type));
    expect(receives({ eventTypes: [type] }, type)).toBe(true);
  });

  test("named types replace the default set", () => {
    expect(receives({ eventTypes: ["email.replied"] }, "email.sent")).toBe(false);
  });

  test("a type that the service does not have cannot be fired, unless an option names it", async () => {
    const sandbox = openSandbox({ newEventTypes: ["call.missed"], receive: () => new Response() });
    expect(await refusalOf(() => sandbox.emit("call.taken"))).toEqual({ code: "invalid_argument" });
    sandbox.endpoints.create({ url: "http://127.0.0.1/", eventTypes: ["call.missed"] });
    const { event, deliveries } = sandbox.emit("call.missed", { from: "x" });
    expect([event.data, deliveries]).toMatchObject([{ from: "x" }, [{}]]);
  });
});

describe("allowlists", () => {
  const acme = { domainAllowlist: ["acme.example.com"] };
  const forms = { eventTypes: ["form.submitted", "suppression.removed", "email.bounced"] };

  test.each<[string, Omit<WebhookCreateInput, "url">, string, string | string[] | undefined, boolean]>([
    ["both empty", {}, "email.bounced", OTHER, true],
    ["an address, and an event of it", { addressAllowlist: [SUPPORT] }, "email.bounced", SUPPORT, true],
    ["an address in other letters", { addressAllowlist: [SUPPORT] }, "email.bounced", SUPPORT.toUpperCase(), true],
    ["an address, and another of its domain", { addressAllowlist: [SUPPORT] }, "email.bounced", BILLING, false],
    ["a domain, and an address of it", acme, "email.bounced", BILLING, true],
    ["a domain, and one of another", acme, "email.bounced", OTHER, false],
    ["a domain, and one below it", { domainAllowlist: ["example.com"] }, "email.bounced", SUPPORT, false],
    ["one of both lists", { addressAllowlist: [OTHER], ...acme }, "email.bounced", OTHER, true],
    ["one of several addresses", { addressAllowlist: [SUPPORT] }, "email.received", [OTHER, SUPPORT], true],
    ["an event without an address", { ...forms, addressAllowlist: [SUPPORT] }, "suppression.removed", undefined, true],
    ["a form, with lists", { ...forms, ...acme }, "form.submitted", SUPPORT, false],
    ["a form, without lists", forms, "form.submitted", undefined, true],
  ])("an allowlist decides which deliveries an endpoint gets: %s", (_, input, type, address, expected) => {
    expect(receives(input, type, address)).toBe(expected);
  });

  test("an allowlist applies to the sender of an outgoing mail and the recipients of an incoming one", () => {
    const lists = { addressAllowlist: [SUPPORT], eventTypes: ["email.sent", "email.received"] };
    const sandbox = openSandbox({ receive: () => new Response() });
    sandbox.endpoints.create({ url: "http://127.0.0.1/", ...lists });
    const count = (type: string, data: object) => sandbox.emit(type, data).deliveries.length;
    expect(count("email.sent", { from: SUPPORT, to: [BILLING] })).toBe(1);
    expect(count("email.sent", { from: BILLING, to: [SUPPORT] })).toBe(0);
    expect(count("email.received", { from: "ada@customer.example.com", to: [BILLING], cc: [SUPPORT] })).toBe(1);
    expect(count("email.received", { from: SUPPORT, to: [BILLING], cc: [] })).toBe(0);
  });

  test.each([
    ["file.uploaded", SUPPORT, ["narrowed", "wide"]],
    ["file.deleted", SUPPORT.toUpperCase(), ["narrowed", "wide"]],
    ["file.uploaded", BILLING, ["wide"]],
    ["file.deleted", BILLING, ["wide"]],
    ["file.uploaded", null, ["narrowed", "wide"]],
  ])("an allowlist applies to the address that a file arrived at: %s, %s", (type, deliveredTo, expected) => {
    const sandbox = openSandbox({ receive: () => new Response() });
    const eventTypes = ["file.uploaded", "file.deleted"];
    const url = "http://127.0.0.1/";
    const narrowed = sandbox.endpoints.create({ url, eventTypes, addressAllowlist: [SUPPORT] });
    sandbox.endpoints.create({ url, eventTypes });
    const reached = sandbox.emit(type, { deliveredTo }).deliveries;
    expect(reached.map(({ endpointId }) => (endpointId === narrowed.id ? "narrowed" : "wide"))).toEqual(expected);
  });

  test("an event reaches every endpoint that subscribes to it, each with its own delivery", async () => {
    const sandbox = openSandbox({ receive: () => new Response() });
    const [one, two] = [1, 2].map((n) => sandbox.endpoints.create({ url: `http://127.0.0.1/${n}` }));
    const { deliveries } = sandbox.emit("email.sent");
    expect(deliveries.map(({ endpointId }) => endpointId)).toEqual([one?.id, two?.id]);
    await sandbox.settle();
    expect(sandbox.deliveries({ endpointId: two?.id ?? "" })).toHaveLength(1);
  });
});
