import { describe, expect, test } from "vitest";
import { createClient } from "pigeonhole/client";
import { ApiFaultList } from "#pigeonhole/sandbox/calls/api-faults.js";
import { createRandom } from "../../support/seeded-random.js";
import type { Clock } from "#pigeonhole/base/clock.js";
import { rejection } from "../../client/support.js";
import { EVENT, LIVE_KEY, NOW, createTestApi, listenTo } from "./support.js";

/** No wait of the client is as long, only its timeout. */
const NEVER_MS = 1_000_000;

/** Time stands until a call waits; then it moves by the wait at once. Waits from {@link NEVER_MS} on never end. */
function leapingClock(): Clock & { waits: number[] } {
  const waits: number[] = [];
  let nowMs = NOW;
  return {
    waits,
    now: () => nowMs,
    setTimer(callback, delayMs) {
      if (delayMs >= NEVER_MS) return { cancel() {} };
      const immediate = setImmediate(() => {
        waits.push(delayMs);
        nowMs += delayMs;
        callback();
      });
      return { cancel: () => clearImmediate(immediate) };
    },
  };
}

/** The service and a client of it, on one clock. */
async function pair(transport: "in process" | "over HTTP") {
  const clock = leapingClock();
  const faults = new ApiFaultList({ random: createRandom(1) });
  const service = createTestApi({ clock, faults });
  const reach =
    transport === "in process"
      ? { baseUrl: "http://localhost", fetch: service.fetch }
      : { baseUrl: (await listenTo(service.api)).baseUrl };
  const client = createClient({
    apiKey: LIVE_KEY,
    ...reach,
    clock,
    random: () => 0.5,
    timeoutMs: NEVER_MS,
    eventsPerMinute: 1_000_000,
  });
  return { ...service, client, faults, clock };
}

describe.each(["in process", "over HTTP"] as const)("the client, %s", (transport) => {
  test("the client refuses a batch with an invalid event, or sends it and the service fails that event alone", async () => {
    const { client, store } = await pair(transport);
    const events = [{ ...EVENT, name: "not a name" }, { ...EVENT, occurredAt: "2020-01-01T00:00:00Z" }, EVENT];
    const refused = { name: "InvalidInputError", code: "invalid_event", param: "events.0.name" };
    expect(await rejection(client.contactEvents.sendBatch(events))).toMatchObject(refused);
    expect(await rejection(client.contactEvents.sendBatch(events, { invalidEvents: "refuse" }))).toMatchObject(refused);
    expect(store.events).toEqual([]);
    const { accepted, failed } = await client.contactEvents.sendBatch(events, { invalidEvents: "send" });
    expect([accepted.map(({ index }) => index), failed.map(({ index }) => index)]).toEqual([[2], [0, 1]]);
  });

  test("the client stores an event once if the answer is lost or an error comes after the commit", async () => {
    const { client, faults, store } = await pair(transport);
    faults.add({ fault: { kind: "no_answer", executed: true }, times: 1 });
    faults.add({ fault: { kind: "error", status: 500, executed: true }, times: 1 });
    expect(await client.contactEvents.send(EVENT, { idempotencyKey: "k" })).toMatchObject({ replayed: true });
    expect(store.events).toHaveLength(1);
  });

  test("the client can be aborted while an answer is delayed, and the event is stored all the same", async () => {
    const { client, faults, store } = await pair(transport);
    faults.add({ fault: { kind: "delay", delayMs: NEVER_MS } });
    const aborted = new AbortController();
    const call = rejection(client.contactEvents.send(EVENT, { signal: aborted.signal }));
    await expect.poll(() => store.events.length).toBe(1);
    aborted.abort(new Error("enough"));
    expect(await call).toMatchObject({ message: "enough" });
  });

  test("the client gets a delayed answer after the delay", async () => {
    const { client, faults, clock } = await pair(transport);
    faults.add({ fault: { kind: "delay", delayMs: 5_000 }, times: 1 });
    const startMs = clock.now();
    await client.contactEvents.send(EVENT);
    expect(clock.now() - startMs).toBeGreaterThanOrEqual(5_000);
  });
});
