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
    expect(server.received[0]).toMatchObject({
      method: "POST",
      url: `/v1/webhooks/${WEBHOOK_ID}/secret/rotate`,
      body: "",
    });
  });

  test("a request carries the idempotency key of the call", async () => {
    const server = await startApi(SENT);
    const { contactEvents } = clientOf(server);
    await contactEvents.send(EVENT, { idempotencyKey: "order:1042" });
    await contactEvents.send(EVENT);
    expect(server.received.map(({ headers }) => headers["idempotency-key"])).toEqual(["order:1042", undefined]);
  });
});

describe("input that is not sent", () => {
  const call = (run: (client: Client) => Promise<unknown>) => run;
  test.each([
    [
      "a bad idempotency key",
      "invalid_idempotency_key",
      "idempotencyKey",
      call((c) => c.contactEvents.send(EVENT, { idempotencyKey: "a b" })),
    ],
    [
      "a misspelt option, which would be a call without a key",
      "unknown_parameter",
      "idempotency_key",
      call((c) => c.contactEvents.send(EVENT, { idempotency_key: "a" } as object)),
    ],
    [
      "an idempotency key where there is none",
      "unknown_parameter",
      "idempotencyKey",
      call((c) => c.webhooks.rotateSecret(WEBHOOK_ID, { idempotencyKey: "a" } as object)),
    ],
    [
      "a choice about invalid events that there is not",
      "invalid_parameter",
      "invalidEvents",
      call((c) => c.contactEvents.sendBatch([EVENT], { invalidEvents: "drop" as "send" })),
    ],
    [
      "a choice about invalid events where there is one event",
      "unknown_parameter",
      "invalidEvents",
      call((c) => c.contactEvents.send(EVENT, { invalidEvents: "send" } as object)),
    ],
    ...[
      ["a batch that is no list", "invalid_parameter", "events", {}],
      ["a batch with an unknown field", "unknown_parameter", "events.0.mail", [{ ...EVENT, mail: "x" }]],
      [
        "a batch with a date",
        "invalid_event",
        "events.1.properties",
        [EVENT, { ...EVENT, properties: { at: new Date() } }],
      ],
      ["a batch with no number", "invalid_event", "events.0.properties", [{ ...EVENT, properties: { n: Number.NaN } }]],
    ].map(([what, code, param, events]): [string, string, string, (client: Client) => Promise<unknown>] => [
      `${what as string}, though invalid events may be sent,`,
      code as string,
      param as string,
      call((c) => c.contactEvents.sendBatch(events as (typeof EVENT)[], { invalidEvents: "send" })),
    ]),
    ["a step up", "invalid_parameter", "email", call((c) => c.contactEvents.list(".."))],
    ["a page too large", "invalid_parameter", "limit", call((c) => c.webhooks.list({ limit: 101 }))],
    [
      "half a character in a key",
      "invalid_parameter",
      "document.fields.0",
      call((c) => c.forms.create({ name: "News", document: { fields: [{ "\ud800": 1 }] } })),
    ],
    ["half a character in a search", "invalid_parameter", "q", call((c) => c.contacts.list({ q: "\udc00" }))],
    [
      "options in the wrong place",
      "unknown_parameter",
      "signal",
      call((c) => c.webhooks.list({ signal: 1 } as object)),
    ],
    [
      "a signal that is none",
      "invalid_parameter",
      "signal",
      call((c) => c.webhooks.get(WEBHOOK_ID, { signal: {} as AbortSignal })),
    ],
  ])("the client refuses %s before it sends anything", async (_, code, param, run) => {
    const server = await startApi(SENT_BATCH);
    const error = await rejection(run(clientOf(server)));
    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toMatchObject({ code, param });
    expect(server.received).toEqual([]);
  });

  test.each([
    ["a private URL", "https://10.0.0.1"],
    ["a URL on this machine", "http://127.0.0.1:3000/webhooks/mail"],
  ])("the client refuses %s of an endpoint before it sends anything to the service", async (_, url) => {
    const sent: string[] = [];
    const fetch = async (to: string) => {
      sent.push(to);
      return Response.json(WITH_SECRET.body, { status: 201 });
    };
    const client = clientOf({ baseUrl: "https://api.example" }, { fetch });
    const refused = { name: "InvalidInputError", code: "invalid_webhook_url", param: "url" };
    expect(await rejection(client.webhooks.create({ url }))).toMatchObject(refused);
    expect(await rejection(client.webhooks.update(WEBHOOK_ID, { url }))).toMatchObject(refused);
    expect(sent).toEqual([]);
  });

  test("the client refuses an endpoint's URL that is neither http nor https, on this machine too", async () => {
    const server = await startApi(WITH_SECRET);
    const refused = { name: "InvalidInputError", code: "invalid_webhook_url", param: "url" };
    expect(await rejection(clientOf(server).webhooks.create({ url: "ftp://127.0.0.1/" }))).toMatchObject(refused);
    expect(server.received).toEqual([]);
  });

  test("the client refuses a call with too many arguments", async () => {
    const server = await startApi(SENT);
    const names = clientOf(server).contactEvents.names as (...args: unknown[]) => Promise<unknown>;
    expect(await rejection(names({}, {}))).toMatchObject({ code: "unknown_parameter", param: undefined });
    expect(server.received).toEqual([]);
  });
});
