import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { isPigeonholeError } from "#pigeonhole/base/error.js";
import { ApiKeyRegistry } from "#pigeonhole/sandbox/access/api-key-registry.js";
import { type ApiCallEntry, MAX_JSON_BYTES } from "#pigeonhole/sandbox/calls/create-api.js";
import { ADA, EVENT, LIVE_KEY, createTestApi, listenTo, verdict } from "./support.js";

const ID = "whe_65b8f0a2c4d6e8f001234567";

describe("a path", () => {
  test.each([
    ["that no operation has", "GET /nothing", "404 resource_not_found"],
    ["that is a part of one", "GET /webhooks/", "404 resource_not_found"],
    ["with more behind it", `GET /webhooks/${ID}/more`, "404 resource_not_found"],
    ["with a broken escape", "GET /webhooks/%zz", "404 resource_not_found"],
    ["with an id of the wrong shape", "GET /webhooks/whe_1", "404 resource_not_found"],
    ["with a contact too long to be one", `GET /contacts/${"x".repeat(321)}/events`, "404 contact_not_found"],
    ["and a method that it has not", "DELETE /webhooks", "405 method_not_allowed"],
    ["and another method that it has not", "PUT /events", "405 method_not_allowed"],
    ["of a contact with an escaped slash", "GET /contacts/a%2Fb/events", "404 contact_not_found"],
  ])("a path %s is answered as documented", async (_, line, expected) => {
    expect(verdict(await createTestApi().call(line))).toBe(expected);
  });

  test("a path with a wrong method is answered with its methods", async () => {
    const { headers } = await createTestApi().call(`PUT /webhooks/${ID}`);
    expect(headers.get("allow")?.split(", ").toSorted()).toEqual(["DELETE", "GET", "PATCH"]);
  });

  test("a path can be set, as for the client", async () => {
    const { call } = createTestApi({ paths: { webhooks: { rotateSecret: "/endpoints/{id}/secret" } } });
    expect(verdict(await call(`POST /endpoints/${ID}/secret`))).toBe("200");
    expect(verdict(await call(`POST /webhooks/${ID}/rotate-secret`))).toBe("404 resource_not_found");
  });

  test("a path with a literal takes precedence over one with a parameter", async () => {
    const { call } = createTestApi({ paths: { webhooks: { get: "/events/{id}" } } });
    expect(verdict(await call("GET /events/names"))).toBe("200");
    expect(verdict(await call(`GET /events/${ID}`))).toBe("200");
  });

  test("an operation that hides another one is refused when the sandbox is created", () => {
    expect(() => createTestApi({ paths: { webhooks: { rotateSecret: "/webhooks/{id}/test" } } })).toThrowError(
      expect.toSatisfy((error) => isPigeonholeError(error, "invalid_option")) as Error,
    );
  });
});

describe("a query", () => {
  test.each([
    ["without anything", "", "200"],
    ["with an empty limit", "?limit=", "422 invalid_parameter limit"],
    ["with two limits", "?limit=1&limit=2", "422 invalid_parameter limit"],
    ["with an empty cursor", "?cursor=", "400 invalid_cursor cursor"],
    ["with times", "?since=2026-01-01T00:00:00Z&until=2026-01-01T00:00:00%2B02:00", "200"],
    ["with a time that cannot be read", "?since=yesterday", "400 invalid_parameter since"],
    ["with another that cannot be read", "?until=5", "400 invalid_parameter until"],
    ["with a status of digits", "?status=500", "200"],
    ["with a name inherited from objects", "?constructor=1", "422 unknown_parameter constructor"],
  ])("a query %s is accepted or refused as documented", async (_, search, expected) => {
    expect(verdict(await createTestApi().call(`GET /webhooks/${ID}/deliveries${search}`))).toBe(expected);
  });

  test("a query keeps text that looks like a number", async () => {
    const { call } = createTestApi();
    await call("POST /events", { body: { ...EVENT, name: "42" } });
    const { body } = await call(`GET /contacts/${ADA.id}/events?name=42&limit=200`);
    expect(body["data"]).toMatchObject([{ name: "42" }]);
  });
});

describe("a key", () => {
  test("a key is read from the header that the client uses if it is configured", async () => {
    const { call } = createTestApi({ credential: { header: "X-Api-Key", prefix: "" } });
    expect(verdict(await call("GET /webhooks", { key: null, headers: { "x-api-key": LIVE_KEY } }))).toBe("200");
    expect(verdict(await call("GET /webhooks"))).toBe("401 unauthorized");
  });

  test.each([["Basic abc"], [LIVE_KEY], [""], ["Bearer"], ["Bearer  "]])(
    "a key sent as %j is refused",
    async (authorization) => {
      const { call } = createTestApi();
      expect(verdict(await call("GET /webhooks", { key: null, headers: { authorization } }))).toBe("401 unauthorized");
    },
  );

  test("a key is accepted with any spelling of the scheme", async () => {
    const { call } = createTestApi();
    const headers = { authorization: `bearer ${LIVE_KEY}` };
    expect(verdict(await call("GET /webhooks", { key: null, headers }))).toBe("200");
  });

  const sameId = [{ token: `svc_live_${"0a1b".repeat(6)}x` }, { token: `svc_live_${"0a1b".repeat(6)}y` }];
  test.each([[[{ token: "" }]], [[{ token: "two words" }]], [[{ token: "same" }, { token: "same" }]], [sameId]])(
    "a key ring of %j is refused",
    (keys) => {
      expect(() => new ApiKeyRegistry(keys)).toThrowError(/API key/);
    },
  );
});

test("an idempotency key is ignored if the operation does not take one", async () => {
  const headers = { "idempotency-key": "a/b" };
  expect(verdict(await createTestApi().call("GET /webhooks", { headers }))).toBe("200");
});

describe("a body", () => {
  test("a body over the limit is refused, in process and over HTTP, and the server continues", async () => {
    const { api, call } = createTestApi();
    const { call: callOverHttp } = await listenTo(api);
    for (const send of [call, callOverHttp]) {
      const body = JSON.stringify(EVENT).padEnd(MAX_JSON_BYTES);
      expect(verdict(await send("POST /events", { body }))).toBe("201");
      expect(verdict(await send("POST /events", { body: `${body} ` }))).toBe("413 request_too_large");
      expect(verdict(await send("POST /events", { body: "x".repeat(3 * MAX_JSON_BYTES) }))).toBe(
        "413 request_too_large",
      );
      expect(verdict(await send("POST /events", { body }))).toBe("201");
    }
  });

  test("a body that is not UTF-8 is refused", async () => {
    const { api } = createTestApi();
    const { port } = await listenTo(api);
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(port, "127.0.0.1");
      let text = "";
      socket.on("data", (chunk) => (text += chunk.toString()));
      socket.on("end", () => resolve(text)).on("error", reject);
      const head = `POST /events HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${LIVE_KEY}\r\n`;
      socket.write(`${head}content-length: 3\r\n\r\n`);
      socket.write(Buffer.from([0x22, 0xff, 0x22]));
    });
    expect(answer).toMatch(/^HTTP\/1.1 400 [\s\S]*"invalid_parameter"/);
  });

  test("a body that breaks off stores nothing and does not stop the server", async () => {
    const { api, store } = createTestApi();
    const { port, call } = await listenTo(api);
    await new Promise<void>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => {
        const head = `POST /events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${LIVE_KEY}\r\n`;
        socket.write(`${head}content-length: 500\r\n\r\n{"name":`, () => socket.destroy());
      });
      socket.once("close", () => resolve());
    });
    expect(verdict(await call("POST /events", { body: EVENT }))).toBe("201");
    expect(store.events).toHaveLength(1);
  });
});

describe("a call in process", () => {
  test("a call in process that was aborted before it began does nothing", async () => {
    const { fetch, store } = createTestApi();
    const signal = AbortSignal.abort(new Error("too late"));
    const init = { method: "POST", headers: { authorization: `Bearer ${LIVE_KEY}` }, body: JSON.stringify(EVENT) };
    await expect(fetch("http://localhost/events", { ...init, signal })).rejects.toThrowError("too late");
    expect(store.events).toEqual([]);
    expect((await fetch(new Request("http://localhost/events", init))).status).toBe(201);
  });
});

describe("the report of a call", () => {
  test.each([
    [`svc_live_${"0a1b".repeat(6)}${"f".repeat(24)}`, "0a1b".repeat(6)],
    [`svc_live_${"0a1b".repeat(6)}XYZ`, "0a1b".repeat(6)],
    // A token that is no longer than an id, or of another shape, is not revealed.
    ["svc_live_short", undefined],
    [`svc_live_${"0a1b".repeat(6)}`, undefined],
    [`key_${"0a1b".repeat(8)}`, undefined],
  ])("the report of a call names the key of the token %s by %s, or by a digest", async (token, keyId) => {
    const calls: ApiCallEntry[] = [];
    const { call } = createTestApi({ keys: new ApiKeyRegistry([{ token }]), onCall: (entry) => calls.push(entry) });
    await call("GET /webhooks", { key: token });
    const shown = calls[0]?.keyId ?? "";
    expect(shown).toMatch(keyId ?? /^[0-9a-f]{24}$/);
    expect(token.includes(shown)).toBe(keyId !== undefined);
  });

  test("the report of a call has the operation and the result, and neither path, key nor body", async () => {
    const calls: ApiCallEntry[] = [];
    const { call } = createTestApi({ onCall: (entry) => calls.push(entry) });
    await call("POST /events", { body: EVENT });
    await call("GET /contacts/nobody@example.com/events");
    await call("GET /webhooks", { key: null });
    expect(calls).toMatchObject([
      { call: "contactEvents.send", method: "POST", status: 201, code: undefined, requestId: "req_1" },
      { call: "contactEvents.list", method: "GET", status: 404, code: "contact_not_found", requestId: "req_2" },
      { call: undefined, method: "GET", status: 401, code: "unauthorized", keyId: undefined, requestId: "req_3" },
    ]);
    const text = JSON.stringify(calls);
    for (const hidden of [LIVE_KEY, ADA.email, "nobody@example.com"]) expect(text).not.toContain(hidden);
  });

  test("a mistake in a handler is answered 500 and reported, and the answer names it in a header", async () => {
    const errors: unknown[] = [];
    const broken = new Error("secret detail");
    const { call } = createTestApi({
      handlers: { webhooks: { list: () => Promise.reject(broken) } } as never,
      onError: (error) => errors.push(error),
    });
    const answer = await call("GET /webhooks");
    expect(verdict(answer)).toBe("500 internal_error");
    expect(JSON.stringify(answer.body)).not.toContain("secret detail");
    expect(answer.headers.get("x-request-id")).toBe("req_1");
    expect(errors).toEqual([broken]);
  });
});
