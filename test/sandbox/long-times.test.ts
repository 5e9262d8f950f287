import { setTimeout } from "node:timers/promises";
import { createClient } from "pigeonhole/client";
import { expect, test } from "vitest";
import { HOUR, SECOND, openSandbox, openEndpoint } from "./support.js";
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
    const { email = "" } = sandbox.contacts.contacts[0] ?? {};
    await createClient(sandbox.clientOptions).contactEvents.send({ name: "late", email });
    expect([(await attempt).status, (await event).name]).toEqual(["delivered", "late"]);
  },
);

test("a clock keeps so far from the last date that retries can be planned", async () => {
  const { sandbox } = openEndpoint({ status: 503 });
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
  for (const fault of [
    { kind: "delay", delayMs: delayMs + 1 },
    { kind: "reorder", maxMs: delayMs + 1 },
  ] as const) {
    expect(await refusalOf(() => deliveries.add({ fault }))).toEqual({ code: "invalid_argument" });
  }
});
