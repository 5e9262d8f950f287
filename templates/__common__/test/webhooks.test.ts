import { readFileSync, readdirSync } from "node:fs";
import { signDelivery, TEST_SECRET } from "pigeonhole/testing";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { openTestApp, type TestApp } from "./support/open-test-app.js";

interface Fixture {
  request: { body: { data: string } };
  event: { id: string; type: string };
}

const folder = new URL("../fixtures/webhooks/", import.meta.url);
const fixtures = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), "utf8")) as Fixture);

const MINUTE = 60_000;
const OTHER_SECRET = `whsec_${"another".repeat(7)}`;

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
  return () => app.close();
});

/** The events of fixtures are known in the inbox after their first delivery, so each test sends its own. */
function eventLike({ request }: Fixture, change: object = {}): { id: string; body: string } {
  const id = `evt_${crypto.randomUUID()}`;
  return { id, body: JSON.stringify({ ...(JSON.parse(request.body.data) as object), id, ...change }) };
}

function post(body: string, { secret = TEST_SECRET, timestamp = Date.now() } = {}) {
  return app.post(body, { "content-type": "application/json", ...signDelivery({ body, secret, timestamp }) });
}

/** Waits until the handlers have run, and shows the errors of those that failed. */
async function untilDone(id: string) {
  const event = await vi.waitFor(
    async () => {
      const found = await app.receiver.inbox.get(id);
      const isOver = found?.handlers.every(({ state, error }) => state === "done" || error !== null);
      expect(isOver, "The handlers should have run by now.").toBe(true);
      return found;
    },
    { timeout: 4_000 },
  );
  const errors = event?.handlers.flatMap(({ handler, error }) => (error === null ? [] : [`${handler}: ${error}`]));
  expect(errors).toEqual([]);
  return event;
}

test("there is a fixture to test with", () => {
  expect(fixtures).not.toEqual([]);
});

describe.each(fixtures)("$event.type", (fixture) => {
  const { type } = fixture.event;

  test("is accepted and handled once", async () => {
    const { id, body } = eventLike(fixture);
    expect(await post(body)).toEqual({ status: 200, outcome: "accepted" });
    expect((await untilDone(id))?.handlers).toMatchObject([{ handler: type, state: "done", attempts: 1 }]);
  });

  test("is handled once when it is delivered twice", async () => {
    const { id, body } = eventLike(fixture);
    await post(body);
    await untilDone(id);
    expect(await post(body)).toEqual({ status: 200, outcome: "duplicate" });
    expect((await app.receiver.inbox.get(id))?.handlers).toMatchObject([{ state: "done", attempts: 1 }]);
  });

  // 503 and not 401: the service sends it again, so nothing is lost while a secret is rotated or a clock is wrong.
  test("is refused with the signature of another secret", async () => {
    const { id, body } = eventLike(fixture);
    const answer = await post(body, { secret: OTHER_SECRET });
    expect(answer).toEqual({ status: 503, outcome: "unverified" });
    expect(await app.receiver.inbox.get(id)).toBeUndefined();
  });

  test("is refused when its signature is old", async () => {
    const { id, body } = eventLike(fixture);
    const answer = await post(body, { timestamp: Date.now() - 10 * MINUTE });
    expect(answer).toEqual({ status: 503, outcome: "unverified" });
    expect(await app.receiver.inbox.get(id)).toBeUndefined();
  });

  test("is accepted and kept when its type is newer than this app", async () => {
    const { id, body } = eventLike(fixture, { type: `${type}_anew` });
    expect((await post(body)).status).toBe(200);
    expect(await app.receiver.inbox.get(id)).toMatchObject({ state: "parked" });
  });
});

test("a request without a signature is refused", async () => {
  expect(await app.post("{}", { "content-type": "application/json" })).toEqual({ status: 401, outcome: "unsigned" });
});

test("the app is healthy and ready", async () => {
  expect(await app.get("/healthz")).toBe(200);
  expect(await app.get("/readyz")).toBe(200);
});
