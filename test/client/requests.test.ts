import { describe, expect, test } from "vitest";
import { type Client, InvalidInputError } from "#pigeonhole/client.js";
import { startApi } from "./api-server.js";
import { API_KEY, ENDPOINT, EVENT, SENT, SENT_BATCH, WEBHOOK_ID, WITH_SECRET, clientOf, rejection } from "./support.js";

test("a deletion that is answered 204 without a body has taken effect", async () => {
  const server = await startApi({ status: 204 }, { status: 204 });
  const client = clientOf(server);
  expect(await client.drafts.delete("draft-1")).toEqual({ object: "draft", id: null, deleted: true });
  expect(await rejection(client.webhooks.get(WEBHOOK_ID))).toMatchObject({ code: "invalid_answer", status: 204 });
});

describe("a request", () => {
  test("a request sends the key as a bearer token, and asks for uncompressed JSON", async () => {
    const server = await startApi(ENDPOINT);
    await clientOf(server).webhooks.get(WEBHOOK_ID);
    expect(server.received[0]?.headers).toMatchObject({
      authorization: `Bearer ${API_KEY}`,
      accept: "application/json",
      "accept-encoding": "identity",
    });
  });

  test("a request can send the key in another way", async () => {
    const server = await startApi(ENDPOINT);
    await clientOf(server, { credential: { header: "X-Api-Key", prefix: "" } }).webhooks.get(WEBHOOK_ID);
    expect(server.received[0]?.headers).toMatchObject({ "x-api-key": API_KEY });
    expect(server.received[0]?.headers.authorization).toBeUndefined();
  });

  test("a request goes to another path if an option sets it", async () => {
    const server = await startApi({ body: { id: WEBHOOK_ID, secret: "whsec_x" } });
    const client = clientOf(server, { paths: { webhooks: { rotateSecret: "/webhooks/{id}/secret/rotate" } } });
    await client.webhooks.rotateSecret(WEBHOOK_ID);
    const url = `/v1/webhooks/${WEBHOOK_ID}/secret/rotate`;
    expect(server.received[0]).toMatchObject({ method: "POST", url, body: "" });
  });
});

describe("input that is not sent", () => {
  const many = (events: unknown) => (c: Client) =>
    c.contactEvents.sendBatch(events as (typeof EVENT)[], { invalidEvents: "send" });
  const send = (options: object) => (c: Client) => c.contactEvents.send(EVENT, options);
  const halfKey = { fields: [{ "\ud800": 1 }] };
  test.each<[string, string, string, (client: Client) => Promise<unknown>]>([
    ["a bad idempotency key", "invalid_idempotency_key", "idempotencyKey", send({ idempotencyKey: "a b" })],
    ["a misspelt option", "unknown_parameter", "idempotency_key", send({ idempotency_key: "a" })],
    ["a choice about events of one event", "unknown_parameter", "invalidEvents", send({ invalidEvents: "send" })],
    [
      "an idempotency key where there is none",
      "unknown_parameter",
      "idempotencyKey",
      (c) => c.webhooks.rotateSecret(WEBHOOK_ID, { idempotencyKey: "a" } as object),
    ],
    [
      "a choice about invalid events that there is not",
      "invalid_parameter",
      "invalidEvents",
      (c) => c.contactEvents.sendBatch([EVENT], { invalidEvents: "drop" as "send" }),
    ],
    // Invalid events may be sent, but not these.
    ["a batch that is no list", "invalid_parameter", "events", many({})],
    ["a batch with an unknown field", "unknown_parameter", "events.0.mail", many([{ ...EVENT, mail: "x" }])],
    [
      "a batch with a date",
      "invalid_event",
      "events.1.properties",
      many([EVENT, { ...EVENT, properties: { at: new Date() } }]),
    ],
    ["no number", "invalid_event", "events.0.properties", many([{ ...EVENT, properties: { n: Number.NaN } }])],
    ["a step up", "invalid_parameter", "email", (c) => c.contactEvents.list("..")],
    ["a page too large", "invalid_parameter", "limit", (c) => c.webhooks.list({ limit: 101 })],
    [
      "half a character in a key",
      "invalid_parameter",
      "document.fields.0",
      (c) => c.forms.create({ name: "News", document: halfKey }),
    ],
    ["half a character in a search", "invalid_parameter", "q", (c) => c.contacts.list({ q: "\udc00" })],
    ["options in the wrong place", "unknown_parameter", "signal", (c) => c.webhooks.list({ signal: 1 } as object)],
    ["no signal", "invalid_parameter", "signal", (c) => c.webhooks.get(WEBHOOK_ID, { signal: {} as AbortSignal })],
  ])("the client refuses %s before it sends anything", async (_, code, param, run) => {
    const server = await startApi(SENT_BATCH);
    const error = await rejection(run(clientOf(server)));
    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toMatchObject({ code, param });
    expect(server.received).toEqual([]);
  });

  test.each([
    ["a private URL", "https://10.0.0.1", "https://api.example"],
    ["a URL on this machine", "http://127.0.0.1:3000/webhooks/mail", "https://api.example"],
    ["a URL that is neither http nor https, on this machine too,", "ftp://127.0.0.1/", "http://127.0.0.1:1"],
  ])("the client refuses %s of an endpoint before it sends anything to the service", async (_, url, baseUrl) => {
    const sent: string[] = [];
    const fetch = async (to: string) => {
      sent.push(to);
      return Response.json(WITH_SECRET.body, { status: 201 });
    };
    const client = clientOf({ baseUrl }, { fetch });
    const refused = { name: "InvalidInputError", code: "invalid_webhook_url", param: "url" };
    expect(await rejection(client.webhooks.create({ url }))).toMatchObject(refused);
    expect(await rejection(client.webhooks.update(WEBHOOK_ID, { url }))).toMatchObject(refused);
    expect(sent).toEqual([]);
  });

  test("the client refuses a call with too many arguments", async () => {
    const server = await startApi(SENT);
    const names = clientOf(server).contactEvents.names as (...args: unknown[]) => Promise<unknown>;
    expect(await rejection(names({}, {}))).toMatchObject({ code: "unknown_parameter", param: undefined });
    expect(server.received).toEqual([]);
  });
});
