import { readFileSync } from "node:fs";
import { signDelivery, TEST_SECRET } from "pigeonhole/testing";
import { beforeAll, expect, test, vi } from "vitest";
import { listMailEvents, type MailEvent } from "../src/tables.js";
import { openTestApp, type TestApp } from "./support/open-test-app.js";

const file = new URL("../fixtures/webhooks/email-received.json", import.meta.url);
const { request } = JSON.parse(readFileSync(file, "utf8")) as { request: { body: { data: string } } };

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
  return () => app.close();
});

test("an event delivered twice is one row", async () => {
  const body = request.body.data;
  const { id, type, createdAt, data } = JSON.parse(body) as MailEvent & { data: { messageId: string } };
  for (const outcome of ["accepted", "duplicate"]) {
    expect(await app.post(body, signDelivery({ body, secret: TEST_SECRET }))).toEqual({ status: 200, outcome });
    const isDone = async () => expect((await app.receiver.inbox.get(id))?.state).toBe("done");
    await vi.waitFor(isDone, { timeout: 4_000 });
  }
  expect(listMailEvents(app.store, 10)).toEqual([{ id, type, createdAt, about: data.messageId }]);
});
