import { describe, expect, test } from "vitest";
import { ADA, DAY, EVENT, NOW, type StillClock, TEST_KEY, createTestApi, iso, keyed, verdict } from "./support.js";

describe("an event sent again with its key", () => {
  test("an event sent again with its key is answered 200 with the first event and what it started, and starts nothing", async () => {
    const { call, store, clock } = createTestApi({
      automations: [{ id: "aut_1", trigger: "order.shipped", waitsFor: "order.shipped" }],
    });
    const init = { headers: keyed("k"), body: EVENT };
    await call("POST /events", { body: EVENT });
    const first = await call("POST /events", init);
    (clock as StillClock).nowMs += 1000;
    const again = await call("POST /events", init);
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(first.body).toMatchObject({ replayed: false, enrolled: ["aut_1"], resumed: 1 });
    expect(again.body).toEqual({ ...first.body, replayed: true });
    expect(store.events).toHaveLength(2);
    const fresh = await call("POST /events", { body: EVENT });
    expect(fresh.body["resumed"]).toBe(1);
  });

  const full = { ...EVENT, properties: { a: 1, b: { c: 2 } }, occurredAt: iso(NOW), createContact: true };
  test.each([
    ["the same fields", {}, "200"],
    ["the properties in another order", { properties: { b: { c: 2 }, a: 1 } }, "200"],
    ["another name", { name: "order.Shipped" }, "422 idempotency_key_reuse"],
    ["another contact", { email: "bob@example.com" }, "422 idempotency_key_reuse"],
    ["the address written otherwise", { email: ` ${ADA.email.toUpperCase()} ` }, "200"],
    ["another property", { properties: { a: 1, b: { c: 3 } } }, "422 idempotency_key_reuse"],
    ["no properties", { properties: undefined }, "422 idempotency_key_reuse"],
    ["another time", { occurredAt: iso(NOW - 1) }, "422 idempotency_key_reuse"],
    ["no time", { occurredAt: undefined }, "422 idempotency_key_reuse"],
    ["no createContact", { createContact: undefined }, "422 idempotency_key_reuse"],
    ["what is no event", { name: "a b" }, "422 invalid_event name"],
  ])("an event sent again with its key, and with %s, is answered as documented", async (_, change, expected) => {
    const { call, store } = createTestApi();
    await call("POST /events", { headers: keyed("k"), body: full });
    const again = await call("POST /events", { headers: keyed("k"), body: { ...full, ...change } });
    expect(verdict(again)).toBe(expected);
    expect(store.events).toHaveLength(1);
  });

  test("an event with another key, another API key or in a batch counts as new", async () => {
    const { call, store } = createTestApi();
    const init = { headers: keyed("k"), body: EVENT };
    await call("POST /events", init);
    expect(verdict(await call("POST /events", { ...init, headers: keyed("K") }))).toBe("201");
    expect(verdict(await call("POST /events", { ...init, key: TEST_KEY }))).toBe("201");
    const batch = await call("POST /events/batch", { headers: keyed("k"), body: { events: [EVENT] } });
    expect(batch.body).toMatchObject({ accepted: [{ replayed: false }] });
    expect(store.events).toHaveLength(4);
  });

  test("an event sent again with its key is new if it was refused before", async () => {
    const { call, store } = createTestApi();
    const init = { headers: keyed("k"), body: { ...EVENT, email: "bob@example.com" } };
    expect(verdict(await call("POST /events", init))).toBe("404 contact_not_found");
    store.addContact({ email: "bob@example.com" });
    expect(verdict(await call("POST /events", init))).toBe("201");
  });

  test("an event sent again with its key is known for 90 days and new afterwards", async () => {
    const { call, clock } = createTestApi();
    const init = { headers: keyed("k"), body: EVENT };
    await call("POST /events", init);
    (clock as StillClock).nowMs = NOW + 90 * DAY;
    expect(verdict(await call("POST /events", init))).toBe("200");
    (clock as StillClock).nowMs = NOW + 90 * DAY + 1;
    expect(verdict(await call("POST /events", init))).toBe("201");
  });

  test("an event sent twice without a key is stored twice", async () => {
    const { call, store } = createTestApi();
    await call("POST /events", { body: EVENT });
    await call("POST /events", { body: EVENT });
    expect(store.events).toHaveLength(2);
  });
});
