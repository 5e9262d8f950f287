import { describe, expect, test } from "vitest";
import { ADA, DAY, EVENT, NOW, type StillClock, createTestApi, ids, iso, verdict } from "./support.js";

describe("the list of names", () => {
  test("the list of names is distinct, in byte order, with at most 100 names", async () => {
    const { call } = createTestApi();
    for (const name of ["b", "a", "B", "a:", "a-", "b"]) await call("POST /events", { body: { ...EVENT, name } });
    const { body } = await call("GET /events/names");
    expect(body).toEqual({
      object: "list",
      data: ["B", "a", "a-", "a:", "b"].map((name) => ({ object: "contact_event_name", name })),
    });
    for (let first = 0; first < 200; first += 100) {
      const events = Array.from({ length: 100 }, (_, index) => ({ ...EVENT, name: `n${1000 + first + index}` }));
      await call("POST /events/batch", { body: { events } });
    }
    const { data } = (await call("GET /events/names")).body as { data: { name: string }[] };
    expect(data).toHaveLength(100);
    expect(data.at(-1)?.name).toBe("n1094");
  });

  test("the list of names drops a name after its last event is 90 days old", async () => {
    const { call, store, clock } = createTestApi();
    await call("POST /events", { body: { ...EVENT, name: "early" } });
    (clock as StillClock).nowMs = NOW + 1;
    await call("POST /events", { body: { ...EVENT, name: "late" } });
    (clock as StillClock).nowMs = NOW + 90 * DAY + 1;
    expect((await call("GET /events/names")).body["data"]).toMatchObject([{ name: "late" }]);
    expect(store.events).toHaveLength(1);
  });
});

describe("the events of a contact", () => {
  async function filled(count: number) {
    const api = createTestApi({ contacts: [ADA, { id: "bob", email: "bob@example.com" }] });
    const events = Array.from({ length: count }, (_, index) => ({
      ...EVENT,
      name: index % 2 === 0 ? "even" : "odd",
      // Recorded in another order than they happened, and three at each time.
      occurredAt: iso(NOW - 1000 * ((Math.floor(index / 3) * 7) % 20)),
    }));
    await api.call("POST /events/batch", { body: { events } });
    await api.call("POST /events", { body: { ...EVENT, email: "bob@example.com" } });
    return api;
  }

  test("the events of a contact are listed by address without case and by id, without the fields of a send", async () => {
    const { call } = await filled(3);
    for (const reference of [ADA.email, ADA.email.toUpperCase(), ADA.id]) {
      const { body } = await call(`GET /contacts/${encodeURIComponent(reference)}/events`);
      expect(body).toMatchObject({ object: "list", hasMore: false, nextCursor: null });
      expect(body["data"]).toHaveLength(3);
      expect(Object.keys((body["data"] as object[])[0] ?? {})).not.toContain("enrolled");
    }
  });

  test("the events of a contact are listed newest first, 50 a page, and the cursor is the id of the last one", async () => {
    const { call } = await filled(60);
    const first = await call(`GET /contacts/${ADA.id}/events`);
    const rows = first.body["data"] as { id: string; occurredAt: string }[];
    expect(rows).toHaveLength(50);
    expect(rows.map(({ occurredAt }) => occurredAt)).toEqual(
      rows
        .map(({ occurredAt }) => occurredAt)
        .toSorted()
        .toReversed(),
    );
    expect(first.body).toMatchObject({ hasMore: true, nextCursor: rows.at(-1)?.id });
    const second = await call(`GET /contacts/${ADA.id}/events?cursor=${rows.at(-1)?.id}`);
    expect(second.body).toMatchObject({ hasMore: false, nextCursor: null });
    expect(new Set([...ids(rows), ...ids(second.body["data"])]).size).toBe(60);
  });

  test("the events of a contact are listed completely with any limit, even while new events arrive", async () => {
    const { call } = await filled(20);
    expect(verdict(await call(`GET /contacts/${ADA.id}/events?limit=201`))).toBe("422 invalid_parameter limit");
    for (const limit of [1, 7, 20, 200]) {
      const all = ids((await call(`GET /contacts/${ADA.id}/events`)).body["data"]);
      const walked: unknown[] = [];
      for (let cursor: string | null = ""; cursor !== null;) {
        const search: string = cursor === "" ? "" : `&cursor=${cursor}`;
        const { body } = await call(`GET /contacts/${ADA.id}/events?limit=${limit}${search}`);
        walked.push(...ids(body["data"]));
        cursor = body["nextCursor"] as string | null;
        await call("POST /events", { body: EVENT });
      }
      expect(walked).toEqual(all);
    }
  });

  test("the events of a contact end without a cursor if the last page is full", async () => {
    const { call } = await filled(4);
    const { body } = await call(`GET /contacts/${ADA.id}/events?limit=4`);
    expect(body["data"]).toHaveLength(4);
    expect(body).toMatchObject({ hasMore: false, nextCursor: null });
  });

  test("the events of a contact are filtered by exact name", async () => {
    const { call } = await filled(10);
    const { body } = await call(`GET /contacts/${ADA.id}/events?name=even`);
    expect(body["data"]).toHaveLength(5);
    expect((await call(`GET /contacts/${ADA.id}/events?name=Even`)).body["data"]).toEqual([]);
  });

  test("the events of a contact are those of the last 90 days", async () => {
    const { call, clock, store } = createTestApi();
    await call("POST /events", { body: { ...EVENT, occurredAt: iso(NOW - 89 * DAY) } });
    await call("POST /events", { body: EVENT });
    (clock as StillClock).nowMs = NOW + 2 * DAY;
    expect((await call(`GET /contacts/${ADA.id}/events`)).body["data"]).toMatchObject([{ occurredAt: iso(NOW) }]);
    expect(store.events).toHaveLength(2);
  });

  test("a cursor of an event that is no longer held is refused", async () => {
    const { call, clock } = createTestApi();
    for (let index = 0; index < 3; index += 1) await call("POST /events", { body: EVENT });
    const path = `GET /contacts/${ADA.id}/events?limit=2`;
    const { nextCursor } = (await call(path)).body as { nextCursor: string };
    expect(nextCursor).toMatch(/^[0-9a-f]{24}$/);
    (clock as StillClock).nowMs = NOW + 91 * DAY;
    expect(verdict(await call(`${path}&cursor=${nextCursor}`))).toBe("400 invalid_cursor cursor");
  });

  test("a walk of the events of a contact skips what became too old between its pages", async () => {
    const { call, clock } = createTestApi();
    for (const days of [10, 20, 89]) {
      await call("POST /events", { body: { ...EVENT, occurredAt: iso(NOW - days * DAY) } });
    }
    const path = `GET /contacts/${ADA.id}/events?limit=1`;
    const { nextCursor } = (await call(path)).body as { nextCursor: string };
    (clock as StillClock).nowMs = NOW + 2 * DAY;
    const { body } = await call(`${path}&cursor=${nextCursor}`);
    expect(body).toMatchObject({ data: [{ occurredAt: iso(NOW - 20 * DAY) }], hasMore: false, nextCursor: null });
  });
});
