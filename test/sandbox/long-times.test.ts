import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { HOUR, SECOND, openSandbox } from "./support.js";
import { refusalOf } from "../support/error-of.js";

const DAY = 24 * HOUR;
const LAST_MOMENT = 8.64e15;
const url = "http://127.0.0.1/hook";

test.each([{ clock: "real" as const }, { clock: { speed: 0.01 } }])(
  "a wait of more than 24 days does not end at once, with %j",
  async ({ clock }) => {
    const sandbox = openSandbox({ clock, receive: () => new Response() });
    sandbox.endpoints.create({ url });
    const timeoutMs = 30 * DAY;
    const attempt = sandbox.waitFor({ timeoutMs });
    const event = sandbox.waitForContactEvent({ timeoutMs });
    for (const waiting of [attempt, event]) waiting.catch(() => {});
    await setTimeout(30);
    sandbox.emit("email.sent");
    const { email } = sandbox.contacts.contacts[0] ?? { email: "" };
    await sandbox.fetch("http://localhost/events", {
      method: "POST",
      headers: { authorization: `Bearer ${sandbox.apiKey}` },
      body: JSON.stringify({ name: "late", email }),
    });
    expect([(await attempt).status, (await event).name]).toEqual(["delivered", "late"]);
  },
);

test("a clock keeps so far from the last date that retries can be planned", async () => {
  const sandbox = openSandbox({ receive: () => new Response(null, { status: 503 }) });
  sandbox.endpoints.create({ url });
  const tooFar = LAST_MOMENT - sandbox.clock.now() - SECOND;
  expect(await refusalOf(() => sandbox.advance(tooFar))).toEqual({ code: "invalid_argument" });
  await sandbox.advance(tooFar - 3 * 365 * DAY);
  sandbox.emit("email.sent");
  await sandbox.advance("60h");
  expect(sandbox.deliveries()).toHaveLength(8);
});

test("a wait without end stops at the last date", async () => {
  const sandbox = openSandbox();
  sandbox.endpoints.create({ url });
  expect(await refusalOf(() => sandbox.waitFor({ timeoutMs: 1e300 }))).toEqual({ code: "invalid_argument" });
});

test("a fault delays by a year at most", async () => {
  const { deliveries } = openSandbox().faults;
  const delayMs = 365 * DAY;
  deliveries.add({ fault: { kind: "delay", delayMs } });
  expect(await refusalOf(() => deliveries.add({ fault: { kind: "delay", delayMs: delayMs + 1 } }))).toEqual({
    code: "invalid_argument",
  });
  expect(await refusalOf(() => deliveries.add({ fault: { kind: "reorder", maxMs: delayMs + 1 } }))).toEqual({
    code: "invalid_argument",
  });
});
