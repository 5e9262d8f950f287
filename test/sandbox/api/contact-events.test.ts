import { describe, expect, test } from "vitest";
import { ADA, DAY, EVENT, NOW, TEST_KEY, createTestApi, iso, keyed, verdict } from "./support.js";

describe("an event", () => {
  test("an event is recorded and answered 201 with all documented fields", async () => {
    const { call, store } = createTestApi();
    const event = {
      name: "order.shipped",
      email: "ADA@customer.example.COM",
      properties: { order: "1042" },
      occurredAt: "2026-05-31T12:00:00+02:00",
    };
    const { status, body } = await call("POST /events", { body: event });
    expect(status).toBe(201);
    expect(body).toEqual({
      object: "contact_event",
      id: expect.stringMatching(/^[0-9a-f]{24}$/) as string,
      contactId: ADA.id,
      email: ADA.email.toLowerCase(),
      name: "order.shipped",
      properties: { order: "1042" },
      occurredAt: "2026-05-31T10:00:00.000Z",
      createdAt: iso(NOW),
      mode: "live",
      replayed: false,
      enrolled: [],
      resumed: 0,
    });
    expect(store.events).toMatchObject([{ id: body["id"], name: "order.shipped" }]);
  });

  test("an event without properties and time gets none, and the current time", async () => {
    const { body } = await createTestApi().call("POST /events", { body: EVENT });
    expect(body).toMatchObject({ properties: {}, occurredAt: iso(NOW) });
  });

  test.each([
    ["a time now", { occurredAt: iso(NOW) }, "201"],
    ["a time 90 days ago", { occurredAt: iso(NOW - 90 * DAY) }, "201"],
    ["a time more than 90 days ago", { occurredAt: iso(NOW - 90 * DAY - 1) }, "422 invalid_event occurredAt"],
    ["an unknown id", { email: undefined, contactId: "nobody" }, "404 contact_not_found"],
    ["an unknown id beside a known address", { contactId: "nobody" }, "404 contact_not_found"],
    ["id and address of one contact", { contactId: ADA.id }, "201"],
    ["a known id, another address", { contactId: ADA.id, email: "nobody@example.com" }, "404 contact_not_found"],
    ["an unknown address to be added", { email: "new@example.com", createContact: true }, "201"],
    ["an unknown id to be added", { contactId: "new", createContact: true }, "404 contact_not_found"],
  ])("an event with %s is answered as documented", async (_, change, expected) => {
    const { call, store } = createTestApi();
    expect(verdict(await call("POST /events", { body: { ...EVENT, ...change } }))).toBe(expected);
    expect(store.events).toHaveLength(expected === "201" ? 1 : 0);
  });

  test("an event adds the contact once if createContact is true, with its name", async () => {
    const { call, store } = createTestApi();
    const event = { ...EVENT, email: "New@example.com", createContact: true, contactName: "Newcomer" };
    const first = await call("POST /events", { body: event });
    const second = await call("POST /events", { body: { ...event, email: "new@EXAMPLE.com", contactName: "Other" } });
    expect(second.body["contactId"]).toBe(first.body["contactId"]);
    expect(store.contacts).toMatchObject([
      { id: ADA.id },
      { id: first.body["contactId"], email: "new@example.com", name: "Newcomer" },
    ]);
  });

  test("the events of a contact cannot be read after it is removed", async () => {
    const { call, store } = createTestApi();
    await call("POST /events", { body: EVENT });
    expect(store.removeContact(ADA.email)).toBe(true);
    expect(store.removeContact(ADA.email)).toBe(false);
    expect(verdict(await call(`GET /contacts/${ADA.id}/events`))).toBe("404 contact_not_found");
    expect(verdict(await call("POST /events", { body: EVENT }))).toBe("404 contact_not_found");
  });

  test("a contact that is added again after its removal is a new one, without events and waits of the old one", async () => {
    const email = "bob@example.com";
    const { call, store } = createTestApi({ contacts: [{ email }] });
    const event = { name: "order.shipped", email, createContact: true };
    const contactIds = new Set<unknown>();
    for (let round = 0; round < 3; round += 1) {
      const { body } = await call("POST /events", { body: event });
      expect(body).toMatchObject({ replayed: false, resumed: 0 });
      contactIds.add(body["contactId"]);
      expect((await call(`GET /contacts/${email}/events`)).body["data"]).toMatchObject([{ id: body["id"] }]);
      store.addWait({ contactId: body["contactId"] as string, name: "order.shipped" });
      store.removeContact(email);
    }
    expect(contactIds.size).toBe(3);
  });
});

describe("automations", () => {
  const automations = [
    { id: "aut_any", trigger: "order.shipped" },
    { id: "aut_paid", trigger: "order.shipped", filters: { paid: true, tags: ["a"] } },
    { id: "aut_other", trigger: "order.Shipped" },
    { id: "aut_off", trigger: "order.shipped", live: false },
    { id: "aut_wait", trigger: "cart.left", waitsFor: "order.shipped" },
    { id: "aut_self", trigger: "tick", waitsFor: "tick" },
  ];
  const outcome = ({ body }: { body: Record<string, unknown> }) => [body["enrolled"], body["resumed"]];

  test("an automation starts for a contact by the exact name and by filters on the properties", async () => {
    const { call } = createTestApi({ automations });
    const send = async (properties: unknown) => outcome(await call("POST /events", { body: { ...EVENT, properties } }));
    expect(await send({ paid: true, tags: ["a"], more: 1 })).toEqual([["aut_any", "aut_paid"], 0]);
    expect(await send({ paid: true, tags: ["b"] })).toEqual([["aut_any"], 0]);
    expect(await send({ paid: "true" })).toEqual([["aut_any"], 0]);
  });

  test("an automation ends a wait once, by an event of the same contact", async () => {
    const { call, store } = createTestApi({ automations, contacts: [ADA, { email: "bob@example.com" }] });
    const send = async (change: object) => outcome(await call("POST /events", { body: { ...EVENT, ...change } }));
    await send({ name: "cart.left" });
    await send({ name: "cart.left" });
    store.addWait({ contactId: ADA.id, name: "order.shipped" });
    expect(await send({ email: "bob@example.com" })).toEqual([["aut_any"], 0]);
    expect(await send({})).toEqual([["aut_any"], 3]);
    expect(await send({})).toEqual([["aut_any"], 0]);
  });

  test("an automation does not end the wait that the same event begins", async () => {
    const { call } = createTestApi({ automations });
    const send = async () => outcome(await call("POST /events", { body: { ...EVENT, name: "tick" } }));
    expect(await send()).toEqual([["aut_self"], 0]);
    expect(await send()).toEqual([["aut_self"], 1]);
  });

  test("an automation is neither started nor continued by a test key, and the event is stored all the same", async () => {
    const { call, store } = createTestApi({ automations });
    store.addWait({ contactId: ADA.id, name: "order.shipped" });
    const answer = await call("POST /events", { key: TEST_KEY, body: EVENT });
    expect(answer.body).toMatchObject({ mode: "test", enrolled: [], resumed: 0 });
    expect(store.events).toMatchObject([{ mode: "test" }]);
    expect(outcome(await call("POST /events", { body: EVENT }))).toEqual([["aut_any"], 1]);
  });
});

describe("a reset of the sandbox", () => {
  test("a reset restores the contacts and automations of the options, and nothing else", async () => {
    const { call, book, store } = createTestApi({ automations: [{ id: "aut_1", trigger: "order.shipped" }] });
    const init = { headers: keyed("k"), body: EVENT };
    await call("POST /events", init);
    store.addContact({ email: "bob@example.com" });
    store.addWait({ contactId: ADA.id, name: "order.shipped" });
    for (const part of [book, store]) part.reset();
    expect([store.events, store.contacts]).toEqual([[], [{ ...ADA, email: ADA.email.toLowerCase() }]]);
    expect((await call("POST /events", init)).body).toMatchObject({ replayed: false, enrolled: ["aut_1"], resumed: 0 });
    expect(() => store.addContact({ email: ADA.email.toLowerCase() })).toThrowError(/already/);
  });
});
