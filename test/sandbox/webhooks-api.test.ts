import { createClient } from "pigeonhole/client";
import type { Sandbox } from "pigeonhole/sandbox";
import { describe, expect, test } from "vitest";
import { START, openOnClock, openSandbox, fire } from "./support.js";
import { refusalOf } from "../support/error-of.js";

const url = "https://app.example.com/hook";

/** The real client on a sandbox, without sockets on either side. */
function openApi(answer = { status: 200 }) {
  const { sandbox, clock } = openOnClock({ receive: () => new Response(null, { status: answer.status }) });
  return { sandbox, clock, answer, client: createClient(sandbox.clientOptions) };
}

async function send(sandbox: Sandbox, request: { method: string; path: string; body?: unknown; key?: string }) {
  const response = await sandbox.fetch(`${sandbox.baseUrl}${request.path}`, {
    method: request.method,
    headers: { authorization: `Bearer ${request.key ?? sandbox.apiKey}`, "content-type": "application/json" },
    ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe("the real client", () => {
  test("the real client reads the delivery log, newest first, by status and time, and replays from it", async () => {
    const { client, sandbox, answer } = openApi({ status: 404 });
    const { id } = await client.webhooks.create({ url });
    for (let index = 0; index < 7; index += 1) {
      answer.status = index % 2 === 0 ? 404 : 200;
      sandbox.emit("email.sent");
      await sandbox.advance("1m");
    }
    const all = [];
    for await (const row of client.webhooks.deliveries(id, { limit: 3 })) all.push(row);
    const logged = sandbox.deliveries().map((row) => row.id);
    expect(all.map(({ id: row }) => row)).toEqual(logged.toReversed());
    expect(all.at(-1)).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      endpointId: id,
      attempt: 1,
      kind: "event",
      status: "failed",
      responseCode: 404,
      durationMs: 0,
      error: "HTTP 404",
      eventId: sandbox.deliveries()[0]?.eventId,
      eventType: "email.sent",
      createdAt: new Date(START).toISOString(),
    });
    const failed = await client.webhooks.deliveries(id, { status: "failed" });
    expect(failed.items.map(({ responseCode }) => responseCode)).toEqual([404, 404, 404, 404]);
    const iso = (minute: number) => new Date(START + minute * 60_000).toISOString();
    const middle = await client.webhooks.deliveries(id, { since: iso(2), until: iso(4) });
    expect(middle.items.map(({ createdAt }) => createdAt)).toEqual([iso(3), iso(2)]);
    answer.status = 200;
    const replayed = await client.webhooks.replay(id, failed.items[0]?.id ?? "");
    expect(replayed).toMatchObject({ object: "webhook_replay", id, delivery: { status: "delivered" } });
  });

  test("the real client reads one row, the rows of all endpoints, and their counts", async () => {
    const { client, sandbox, answer } = openApi({ status: 404 });
    const [one, two] = [await client.webhooks.create({ url }), await client.webhooks.create({ url: `${url}2` })];
    await fire(sandbox);
    await client.webhooks.update(two.id, { enabled: false });
    answer.status = 200;
    await fire(sandbox, "email.bounced");
    const all = await client.webhooks.allDeliveries();
    expect(all.items.map(({ endpointId, status }) => [endpointId, status])).toEqual([
      [one.id, "delivered"],
      [two.id, "failed"],
      [one.id, "failed"],
    ]);
    const failed = await client.webhooks.allDeliveries({ status: "failed", limit: 1 });
    const rest = await client.webhooks.allDeliveries({ status: "failed", cursor: failed.nextCursor ?? "" });
    expect([...failed.items, ...rest.items]).toEqual(all.items.slice(1));
    const [row] = all.items;
    expect(await client.webhooks.delivery(one.id, row?.id ?? "")).toEqual(row);
    const foreign = await refusalOf(() => client.webhooks.delivery(two.id, row?.id ?? ""));
    expect(foreign).toMatchObject({ param: "deliveryId" });
    expect(await client.webhooks.stats()).toMatchObject({ endpoints: 2, enabled: 1, delivered: 1, failed: 2 });
    await client.webhooks.delete(one.id);
    expect(await client.webhooks.stats()).toMatchObject({ endpoints: 1, enabled: 0, delivered: 0, failed: 1 });
  });

  test("the real client reads who changed which endpoint, the service included", async () => {
    const { client, sandbox, answer } = openApi({ status: 410 });
    const { id } = await client.webhooks.create({ url });
    await sandbox.advance("1m");
    await fire(sandbox);
    await client.webhooks.update(id, { enabled: true, description: "again" });
    await client.webhooks.rotateSecret(id);
    answer.status = 200;
    const member = createClient({ ...sandbox.clientOptions, apiKey: sandbox.callers.member({ role: "Developer" }) });
    await member.webhooks.update(id, { description: "mine" });
    sandbox.endpoints.delete(id);
    const all = await client.webhooks.activity();
    const key = "API key Sandbox key";
    expect(all.items.map(({ kind, actor }) => [kind, actor])).toEqual([
      ["deleted", "@owner"],
      ["updated", "@grace"],
      ["rotated", key],
      ["enabled", key],
      ["updated", key],
      ["disabled", null],
      ["created", key],
    ]);
    expect(new Set(all.items.map(({ endpointId }) => endpointId))).toEqual(new Set([id]));
    const later = { since: new Date(START + 60_000).toISOString() };
    expect((await client.webhooks.activity(later)).items).toHaveLength(6);
    expect((await client.webhooks.activity({ until: later.since })).items).toHaveLength(1);
    const first = await client.webhooks.activity({ ...later, limit: 2 });
    const rest = await client.webhooks.activity({ ...later, cursor: first.nextCursor ?? "" });
    expect([...first.items, ...rest.items]).toEqual(all.items.slice(0, 6));
  });

  test("the real client lists the event types, and says which are in the default set", async () => {
    const sandbox = openSandbox({ newEventTypes: ["email.sorted"] });
    const types = await createClient(sandbox.clientOptions).webhooks.eventTypes();
    expect(types).toHaveLength(25);
    expect(types.filter((type) => type.default)).toHaveLength(14);
    expect(types.find(({ type }) => type === "file.uploaded")).toEqual({ type: "file.uploaded", default: false });
    expect(types.at(-1)).toEqual({ type: "email.sorted", default: false });
  });

  test("the real client gets the delivery log in the order in which attempts began, not in which they were answered", async () => {
    const { sandbox, clock } = openOnClock({
      receive: async (request) => {
        const { data } = (await request.json()) as { data: { slow?: boolean } };
        if (data.slow === true) await new Promise<void>((resolve) => void clock.setTimer(resolve, 1_000));
        return new Response();
      },
      limits: { attemptsAtOnce: 2, patienceMs: 50 },
    });
    const { id } = sandbox.endpoints.create({ url });
    const first = sandbox.emit("email.sent", { slow: true }).event.id;
    await sandbox.advance(100);
    const second = sandbox.emit("email.sent").event.id;
    await sandbox.advance(2_000);
    expect(sandbox.deliveries().map(({ eventId }) => eventId)).toEqual([second, first]);
    const log = await createClient(sandbox.clientOptions).webhooks.deliveries(id);
    expect(log.items.map(({ eventId }) => eventId)).toEqual([second, first]);
    const page = await createClient(sandbox.clientOptions).webhooks.deliveries(id, { limit: 1 });
    const rest = await createClient(sandbox.clientOptions).webhooks.deliveries(id, { cursor: page.nextCursor ?? "" });
    expect(rest.items.map(({ eventId }) => eventId)).toEqual([first]);
  });
});

describe("a narrowed key", () => {
  const SUPPORT = "support@acme.example.com";
  const refused = { status: 422, body: { code: "capability_unsupported", param: "addressAllowlist" } };

  test("a narrowed key reads every endpoint, and makes, changes or deletes only those in its scope", async () => {
    const keys = [{ token: "svc_live_whole" }, { token: "svc_live_narrow", addressAllowlist: [SUPPORT] }];
    const sandbox = openSandbox({ apiKeys: keys });
    const wide = sandbox.endpoints.create({ url });
    const own = sandbox.endpoints.create({ url, addressAllowlist: [SUPPORT] });
    const call = (method: string, id: string, body?: unknown) =>
      send(sandbox, { method, path: `/webhooks/${id}`, body, key: "svc_live_narrow" });
    expect((await call("GET", wide.id)).status).toBe(200);
    const domainAllowlist = ["acme.example.com"];
    for (const lists of [{ addressAllowlist: [SUPPORT, "billing@acme.example.com"] }, { domainAllowlist }]) {
      const create = { method: "POST", path: "/webhooks", body: { url, ...lists }, key: "svc_live_narrow" };
      expect(await send(sandbox, create)).toMatchObject(refused);
    }
    expect(await call("PATCH", wide.id, { description: "mine" })).toMatchObject(refused);
    expect(await call("PATCH", wide.id, { addressAllowlist: [SUPPORT] })).toMatchObject(refused);
    expect(await call("DELETE", wide.id)).toMatchObject(refused);
    expect(await call("PATCH", own.id, { addressAllowlist: [] })).toMatchObject(refused);
    expect((await call("POST", `${own.id}/rotate-secret`)).status).toBe(200);
    expect((await call("PATCH", own.id, { description: "mine" })).status).toBe(200);
    expect((await call("DELETE", own.id)).status).toBe(200);
    expect(sandbox.endpoints.list().map(({ id, description }) => [id, description])).toEqual([[wide.id, null]]);
  });
});
