import { resolve } from "node:path";
import { isPigeonholeError } from "pigeonhole";
import { describe, expect, test } from "vitest";
import { type ClientOptions, createClient } from "#pigeonhole/client.js";
import { startApi } from "./api-server.js";
import { API_KEY, EMPTY_PAGE, clientOf } from "./support.js";
import { asProgram, runToEnd } from "../support/start-program.js";

function refusal(options: Partial<ClientOptions>): string {
  try {
    createClient({ apiKey: API_KEY, baseUrl: "https://api.example/v1", ...options });
  } catch (error) {
    expect(isPigeonholeError(error, "invalid_option")).toBe(true);
    return (error as Error).message;
  }
  return "accepted";
}

test("an unknown option is refused, and the error names the known ones", () => {
  expect(refusal({ timeoutMS: 5 } as object)).toMatch(
    /^createClient has no option "timeoutMS"\. Its options: .*timeoutMs/,
  );
  expect(refusal({ paths: { webhooks: undefined } })).toBe("accepted");
  for (const nothing of [undefined, null, "svc_live_canary"]) {
    expect(() => createClient(nothing as never)).toThrow(/^createClient takes an object with options/);
    expect(() => createClient(nothing as never)).not.toThrow(/canary/);
  }
});

describe("apiKey", () => {
  test.each([
    [undefined, /^apiKey must be a string, got undefined/],
    ["", /^apiKey is empty/],
    ["  ", /^apiKey is empty/],
    [` ${API_KEY}`, /^apiKey has white space/],
    [`${API_KEY}\n`, /^apiKey has white space/],
    [`svc live`, /^apiKey has white space/],
    [`"${API_KEY}"`, /^apiKey has quotes/],
    [`${API_KEY}é`, /^apiKey has characters/],
    [`${API_KEY}\0`, /^apiKey has characters/],
    [`whsec_${"a".repeat(43)}`, /^apiKey is a webhook secret/],
    [`whe_${"a".repeat(24)}`, /^apiKey is the id of a webhook endpoint/],
  ])("the option apiKey refuses %j", (apiKey, message) => {
    const text = refusal({ apiKey: apiKey as string });
    expect(text).toMatch(message);
    expect(text).not.toContain("canary");
  });

  test.each([API_KEY, "svc_test_x", "oauth.token-with~other/characters+=="])(
    "the option apiKey accepts %s",
    (apiKey) => {
      expect(refusal({ apiKey })).toBe("accepted");
    },
  );
});

describe("baseUrl", () => {
  test.each([
    "https://api.example",
    "https://api.example/v1///",
    "http://localhost:3000",
    "http://api.localhost/",
    "http://127.0.0.1:80/v1",
    "http://127.255.0.1",
    "http://[::1]:3000",
  ])("the option baseUrl accepts the URL %s", (baseUrl) => {
    expect(refusal({ baseUrl })).toBe("accepted");
  });

  test.each([
    ["", /is not a URL/],
    ["api.example", /is not a URL/],
    ["/v1", /is not a URL/],
    ["ftp://api.example", /must be an https URL/],
    ["http://api.example", /must be https/],
    ["http://localhost.example", /must be https/],
    ["http://128.0.0.1", /must be https/],
    ["http://0.0.0.0", /must be https/],
    ["https://user:canary@api.example", /must not hold credentials/],
    ["https://api.example?key=canary", /must not have a query/],
    ["https://api.example#x", /must not have a query/],
  ])("the option baseUrl refuses the URL %s", (baseUrl, message) => {
    const text = refusal({ baseUrl });
    expect(text).toMatch(message);
    expect(text).not.toContain("canary");
  });

  test("the option baseUrl may end with slashes", async () => {
    const server = await startApi(EMPTY_PAGE);
    await clientOf({ baseUrl: `${server.baseUrl}//` }).webhooks.list();
    expect(server.received[0]?.url).toBe("/v1/webhooks");
  });
});

describe("other options", () => {
  test.each<[string, Partial<ClientOptions>, RegExp]>([
    ["timeoutMs 0", { timeoutMs: 0 }, /^timeoutMs must be a whole number from 1/],
    ["timeoutMs NaN", { timeoutMs: Number.NaN }, /^timeoutMs/],
    ["maxRetries -1", { maxRetries: -1 }, /^maxRetries/],
    ["maxRetries 1.5", { maxRetries: 1.5 }, /^maxRetries/],
    ["eventsPerMinute 0", { eventsPerMinute: 0 }, /^eventsPerMinute/],
    ["maxAnswerBytes 0", { maxAnswerBytes: 0 }, /^maxAnswerBytes/],
    ["a header name with a space", { credential: { header: "a b" } }, /^credential/],
    ["a prefix with a line end", { credential: { prefix: "a\n" } }, /^credential/],
    ["a request id header that is none", { requestIdHeader: "a b" }, /^requestIdHeader/],
    [
      "a path of an operation that is none",
      { paths: { webhooks: { rotate: "/x" } } as object },
      /^paths\.webhooks\.rotate/,
    ],
    ["a path without its parameter", { paths: { webhooks: { get: "/webhooks" } } }, /^paths\.webhooks\.get/],
    ["a path with another parameter", { paths: { webhooks: { get: "/webhooks/{key}" } } }, /^paths\.webhooks\.get/],
    ["a path to another host", { paths: { webhooks: { list: "//evil.example/x" } } }, /^paths\.webhooks\.list/],
    ["a path with a query", { paths: { webhooks: { list: "/webhooks?a=1" } } }, /^paths\.webhooks\.list/],
    ["a path with steps", { paths: { webhooks: { list: "/a/../b" } } }, /^paths\.webhooks\.list/],
    ["a relative path", { paths: { webhooks: { list: "webhooks" } } }, /^paths\.webhooks\.list/],
  ])("the client refuses an option such as %s", (_, options, message) => {
    expect(refusal(options)).toMatch(message);
  });
});

test("a script does not end while a call waits for the rate limit", async () => {
  const client = resolve(import.meta.dirname, "../../dist/client.js");
  // The promise of a fetch that never opens a socket: only the client's own wait keeps the process alive.
  const script = `
    import { createClient } from ${JSON.stringify(client)};
    const result = { id: "1", contactId: "2", name: "a", occurredAt: "", createdAt: "", mode: "live" };
    const options = { apiKey: "k", baseUrl: "https://api.example", fetch: async () => Response.json(result) };
    console.log((await createClient(options).contactEvents.send({ name: "a", contactId: "2" })).id);`;
  expect(await runToEnd(asProgram(script))).toMatchObject({ stdout: "1\n", stderr: "" });
});
