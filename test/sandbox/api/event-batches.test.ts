import { describe, expect, test } from "vitest";
import {
  ADA,
  EVENT,
  LIVE_KEY,
  NOW,
  type StillClock,
  TEST_KEY,
  createTestApi,
  ids,
  iso,
  keyed,
  verdict,
} from "./support.js";

const codes = (body: Record<string, unknown>): string[] =>
  (body["failed"] as { index: number; code: string }[]).map(({ index, code }) => `${index} ${code}`);
const takenAt = (body: Record<string, unknown>): unknown[] =>
  (body["accepted"] as { index: number }[]).map(({ index }) => index);

describe("a batch", () => {
  const named = (...names: string[]) => names.map((name) => ({ ...EVENT, name }));

  test("a batch is recorded in order, and a refused event does not stop the rest", async () => {
    const { call, store } = createTestApi();
    await call("POST /events/batch", { headers: keyed("k"), body: { events: named("a", "b") } });
    const events = [
      ...named("a", "other"),
      { ...EVENT, email: "nobody@example.com" },
      { ...EVENT, name: "a b" },
      { ...EVENT, occurredAt: iso(NOW + 1) },
      { name: "a" },
      { ...EVENT, properties: { p: "x".repeat(5000) } },
      ...named("last"),
    ];
    const { status, body } = await call("POST /events/batch", { headers: keyed("k"), body: { events } });
    expect(status).toBe(200);
    expect(body["object"]).toBe("contact_event_batch");
    expect(takenAt(body)).toEqual([0, 7]);
    expect(body["accepted"]).toMatchObject([
      { name: "a", replayed: true },
      { name: "last", replayed: false },
    ]);
    const invalid = [3, 4, 5, 6].map((index) => `${index} invalid_event`);
    expect(codes(body)).toEqual(["1 idempotency_key_reuse", "2 contact_not_found", ...invalid]);
    expect((body["failed"] as object[])[1]).toEqual({
      index: 2,
      code: "contact_not_found",
      message: "The contact does not exist or cannot be reached.",
    });
    expect(store.events.map(({ name }) => name)).toEqual(["a", "b", "last"]);
  });

  test("a batch that is sent again with its key is answered from the record, and its missing events are stored", async () => {
    const { call, store } = createTestApi();
    const init = {
      headers: keyed("k"),
      body: { events: [{ ...EVENT, email: "bob@example.com" }, ...named("a", "b")] },
    };
    const first = await call("POST /events/batch", init);
    store.addContact({ email: "bob@example.com" });
    const again = await call("POST /events/batch", init);
    expect(takenAt(first.body)).toEqual([1, 2]);
    expect(again.body).toMatchObject({
      accepted: [{ index: 0, replayed: false }, { replayed: true }, { replayed: true }],
      failed: [],
    });
    expect(ids(again.body["accepted"]).slice(1)).toEqual(ids(first.body["accepted"]));
    expect(store.events).toHaveLength(3);
  });

  test("a batch in another order fails with idempotency_key_reuse for the events that differ", async () => {
    const { call, store } = createTestApi();
    const send = (...names: string[]) =>
      call("POST /events/batch", { headers: keyed("k"), body: { events: named(...names) } });
    await send("a", "b", "c");
    const { body } = await send("b", "a", "c", "d");
    expect(codes(body)).toEqual(["0 idempotency_key_reuse", "1 idempotency_key_reuse"]);
    expect(takenAt(body)).toEqual([2, 3]);
    expect(store.events).toHaveLength(4);
  });

  const good = named("a", "b", "c");
  test.each([
    ["no events", {}, "422 invalid_parameter events"],
    ["an empty list", { events: [] }, "422 invalid_parameter events"],
    ["one event, and no list", { events: EVENT }, "422 invalid_parameter events"],
    ["100 events", { events: Array(100).fill(EVENT) }, "200"],
    ["101 events", { events: Array(101).fill(EVENT) }, "422 invalid_parameter events"],
    ["an unknown field", { events: [...good, { ...EVENT, x: 1 }] }, "422 unknown_parameter events.3.x"],
    ["an event that is text", { events: [...good, "x"] }, "422 invalid_parameter events.3"],
    ["a name that is missing", { events: [...good, { email: ADA.email }] }, "422 invalid_parameter events.3.name"],
    ["a name that is a number", { events: [...good, { ...EVENT, name: 5 }] }, "422 invalid_parameter events.3.name"],
    [
      "a broken rule first",
      { events: [...named("a b"), { ...EVENT, name: 5 }] },
      "422 invalid_parameter events.1.name",
    ],
    ["both", { events: [{ ...EVENT, name: "a b", properties: 5 }] }, "422 invalid_parameter events.0.properties"],
  ])("a batch with %s is answered as documented", async (_, body, expected) => {
    const { call, store } = createTestApi();
    expect(verdict(await call("POST /events/batch", { body }))).toBe(expected);
    if (expected !== "200") expect(store.events).toEqual([]);
  });
});

describe("the limit of events a minute", () => {
  const send = (api: ReturnType<typeof createTestApi>, count: number, key = LIVE_KEY) =>
    api.call("POST /events/batch", { key, body: { events: Array(count).fill(EVENT) } });

  test("the limit of events a minute is 600 for each key, and a batch that would exceed it stores nothing", async () => {
    const api = createTestApi();
    for (let batch = 0; batch < 5; batch += 1) await send(api, 100);
    await send(api, 99);
    const refused = await send(api, 2);
    expect(verdict(refused)).toBe("429 event_rate_limited");
    expect(refused.headers.get("retry-after")).toBe("60");
    expect(api.store.events).toHaveLength(599);
    expect(verdict(await send(api, 1))).toBe("200");
    expect(verdict(await api.call("POST /events", { body: EVENT }))).toBe("429 event_rate_limited");
    expect(verdict(await send(api, 100, TEST_KEY))).toBe("200");
    expect(verdict(await api.call("GET /events/names"))).toBe("200");
  });

  test("the limit of events a minute applies to any 60 s, and Retry-After says when the events fit", async () => {
    const api = createTestApi({ eventsPerMinute: 10 });
    const clock = api.clock as StillClock;
    await send(api, 4);
    clock.nowMs = NOW + 20_000;
    await send(api, 6);
    clock.nowMs = NOW + 30_500;
    const four = await send(api, 4);
    const five = await send(api, 5);
    expect([four, five].map(({ headers }) => headers.get("retry-after"))).toEqual(["30", "50"]);
    clock.nowMs = NOW + 59_999;
    expect((await send(api, 4)).status).toBe(429);
    clock.nowMs = NOW + 60_000;
    expect((await send(api, 5)).status).toBe(429);
    expect((await send(api, 4)).status).toBe(200);
    clock.nowMs = NOW - 3_600_000;
    expect((await send(api, 10)).status).toBe(200);
  });

  test("the limit of events a minute counts neither calls with invalid fields nor those without a scope", async () => {
    const api = createTestApi({ eventsPerMinute: 1 });
    expect((await send(api, 0)).status).toBe(422);
    expect(verdict(await api.call("POST /events", { body: { ...EVENT, name: "a b" } }))).toBe("422 invalid_event name");
    expect((await send(api, 1)).status).toBe(200);
    api.api.reset();
    expect((await send(api, 1)).status).toBe(200);
  });
});
