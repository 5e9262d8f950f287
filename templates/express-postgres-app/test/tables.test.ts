import { readFileSync } from "node:fs";
import { signDelivery, TEST_SECRET } from "pigeonhole/testing";
import { beforeAll, expect, test, vi } from "vitest";
import { pino } from "pino";
import { createStore } from "../src/store.js";
import { listMailEvents } from "../src/tables.js";
import { createMailReceiver } from "../src/webhooks/receiver.js";
import { openTestApp, type TestApp } from "./support/open-test-app.js";

const file = new URL("../fixtures/webhooks/email-received.json", import.meta.url);
const { request } = JSON.parse(readFileSync(file, "utf8")) as { request: { body: { data: string } } };

const log = pino({ level: "silent" });
let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
  return () => app.close();
});

test("an event delivered twice is one row", async () => {
  const body = request.body.data;
  const { id, type, createdAt, data } = JSON.parse(body) as {
    id: string;
    type: string;
    createdAt: string;
    data: { messageId: string };
  };
  for (const outcome of ["accepted", "duplicate"]) {
    expect(await app.post(body, signDelivery({ body, secret: TEST_SECRET }))).toEqual({ status: 200, outcome });
    const isDone = async () => expect((await app.receiver.inbox.get(id))?.state).toBe("done");
    await vi.waitFor(isDone, { timeout: 4_000 });
  }
  expect(await listMailEvents(app.pool, 10)).toEqual([
    { id, type, createdAt: new Date(createdAt), about: data.messageId },
  ]);
});

test("processes that start at once make the tables once", async () => {
  const stores = [createStore(app.pool), createStore(app.pool), createStore(app.pool)];
  const receivers = stores.map((store) => createMailReceiver({ secrets: [TEST_SECRET], store, log }));
  await Promise.all(receivers.map((receiver) => receiver.start()));
  await Promise.all(receivers.map((receiver) => receiver.stop()));
  expect(await listMailEvents(app.pool, 10)).toHaveLength(1);
});
