import { expect, test } from "vitest";
import { listDeliveries } from "#pigeonhole/dev/api/list-deliveries.js";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import { makeCapture } from "../support/captures.js";
import { eventDetail, handlerView } from "../support/event-detail.js";

test("an event is found by its id, even if it is older than the newest that are looked at", async () => {
  const old = eventDetail(0, { state: "pending", handlers: [handlerView("h")] });
  const listEvents = () => Promise.resolve({ items: [], nextCursor: null });
  const getEvent = (id: string) => Promise.resolve(id === old.id ? old : undefined);
  const inbox = { listEvents, getEvent } as unknown as InboxOperator;
  const list = (query: string) => listDeliveries({ kept: [], inbox, query, limit: 10, now: 0 });
  const found = await list(`id:"${old.id}"`);
  expect(found).toMatchObject({ items: [{ id: `inbox:${old.id}` }], matched: 1 });
  const [{ handlers: [work], ...event } = expect.unreachable()] = found.works;
  expect(Object.keys({ ...event, ...work })).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/^(body|failed|steps)$/)]),
  );
  expect(await list("id:other")).toMatchObject({ items: [], matched: 0 });
});

test("an event of a named source is listed once: as the capture that carried it", async () => {
  const captured = makeCapture({
    body: '{"id":"evt_1","type":"email.sent","createdAt":"2026-01-01T09:00:00Z","data":{}}',
  });
  const event = eventDetail(0, { state: "done", handlers: [] });
  const ofOther = { ...event, id: "acme/evt_2" };
  const listEvents = () => Promise.resolve({ items: [{ ...event, id: "acme/evt_1" }, ofOther], nextCursor: null });
  const inbox = { listEvents } as unknown as InboxOperator;
  const list = (query: string) => listDeliveries({ kept: [captured], inbox, query, limit: 10, now: 0 });
  expect(await list("")).toMatchObject({
    items: [{ id: captured.id }, { id: "inbox:acme/evt_2", eventId: "evt_2" }],
    works: [{ id: "acme/evt_2" }],
  });
  expect(await list("work.state:done")).toMatchObject({ matched: 2 });
  await expect(list("work.state:done work.state:dead")).rejects.toThrow("has work.state:dead beside another value");
});
