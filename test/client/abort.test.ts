import { getEventListeners } from "node:events";
import { fakeClock } from "pigeonhole/testing";
import { describe, expect, test } from "vitest";
import { NoAnswerError } from "#pigeonhole/client.js";
import { FAULTS, startApi } from "./api-server.js";
import { ENDPOINT, EMPTY_PAGE, EVENT, SENT, WEBHOOK_ID, clientOf, fastClock, rejection } from "./support.js";
import type { FetchFunction } from "#pigeonhole/client/attempt.js";

class Enough extends Error {}

describe("aborting a call", () => {
  test("a call that is aborted before anything was sent rejects with the reason of its signal", async () => {
    const server = await startApi(ENDPOINT);
    const reason = new Enough();
    const signal = AbortSignal.abort(reason);
    const client = clientOf(server);
    expect(await rejection(client.webhooks.get(WEBHOOK_ID, { signal }))).toBe(reason);
    expect(await rejection(client.webhooks.list({}, { signal }))).toBe(reason);
    expect(await rejection(client.contactEvents.send(EVENT, { signal }))).toBe(reason);
    expect(server.received).toEqual([]);
  });

  test("a call that is aborted while it waits for the rate limit rejects with the reason of its signal", async () => {
    const clock = fakeClock();
    const server = await startApi(SENT);
    const controller = new AbortController();
    const sent = clientOf(server, { clock }).contactEvents.send(EVENT, { signal: controller.signal });
    const reason = new Enough();
    controller.abort(reason);
    expect(await rejection(sent)).toBe(reason);
    await clock.advance(10_000);
    expect([server.received, clock.pendingTimers]).toEqual([[], 0]);
  });

  test.each([
    ["for the answer", FAULTS.hang],
    ["for the rest of the answer", FAULTS.stall],
  ])("a call that is aborted while it waits %s rejects with the reason of its signal", async (_, reply) => {
    const server = await startApi(reply);
    const controller = new AbortController();
    const arrived = server.next();
    const got = rejection(clientOf(server).webhooks.get(WEBHOOK_ID, { signal: controller.signal }));
    await arrived;
    const reason = new Enough();
    controller.abort(reason);
    expect(await got).toBe(reason);
    expect(server.received).toHaveLength(1);
  });

  test("a call that is aborted while it waits to try again rejects with the reason of its signal", async () => {
    const clock = fakeClock();
    const server = await startApi({ status: 503 });
    const controller = new AbortController();
    const got = rejection(clientOf(server, { clock }).webhooks.get(WEBHOOK_ID, { signal: controller.signal }));
    await server.next();
    await expect.poll(() => clock.pendingTimers).toBe(1);
    controller.abort("a reason need not be an error");
    expect(await got).toBe("a reason need not be an error");
    await clock.advance(60_000);
    expect([server.received.length, clock.pendingTimers]).toEqual([1, 0]);
  });

  test("a list that is aborted between two pages rejects with the reason of its signal", async () => {
    const server = await startApi({ body: { data: [{ id: "a" }], hasMore: true, nextCursor: "c" } });
    const controller = new AbortController();
    const reason = new Enough();
    const walk = async () => {
      for await (const row of clientOf(server).webhooks.list({}, { signal: controller.signal })) {
        if (row.id === "a") controller.abort(reason);
      }
    };
    expect(await rejection(walk())).toBe(reason);
    expect(server.received).toHaveLength(1);
  });

  test("an aborted call rejects with the reason of its signal even if fetch ignores the signal", async () => {
    const controller = new AbortController();
    const deaf: FetchFunction = () => new Promise(() => {});
    const client = clientOf({ baseUrl: "https://api.example" }, { fetch: deaf });
    const got = rejection(client.webhooks.list({}, { signal: controller.signal }));
    controller.abort("deaf");
    expect(await got).toBe("deaf");
  });

  test("an aborted call leaves no listener on a signal that is used again", async () => {
    const server = await startApi(SENT, EMPTY_PAGE);
    const { signal } = new AbortController();
    await clientOf(server).contactEvents.send(EVENT, { signal });
    await clientOf(server).webhooks.list({}, { signal });
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});

describe("a timeout", () => {
  test.each([
    ["no answer", FAULTS.hang],
    ["half an answer", FAULTS.stall],
  ])("a timeout ends an attempt that gets %s", async (_, reply) => {
    const server = await startApi(reply);
    const options = { clock: fastClock(), timeoutMs: 2_000, maxRetries: 0 };
    const error = await rejection(clientOf(server, options).webhooks.get(WEBHOOK_ID));
    expect(error).toBeInstanceOf(NoAnswerError);
    expect(error).toMatchObject({ code: "no_answer", reason: "timeout", mayHaveArrived: true, retryable: true });
    expect((error as Error).message).toContain("no answer within 2000 ms");
  });

  test("a timeout applies to each attempt, and the next attempt may succeed", async () => {
    const server = await startApi(FAULTS.hang, ENDPOINT);
    const clock = fakeClock();
    const getting = clientOf(server, { clock, timeoutMs: 100_000 }).webhooks.get(WEBHOOK_ID);
    await expect.poll(() => server.received.length).toBe(1);
    await clock.advance(100_000);
    await expect.poll(() => clock.nextTimerInMs).toBe(500);
    await clock.advance(500);
    const got = await getting;
    expect([got.id, server.received.length]).toEqual([WEBHOOK_ID, 2]);
  });

  test("a timeout is cancelled after the answer has come", async () => {
    const clock = fakeClock();
    const server = await startApi(ENDPOINT);
    await clientOf(server, { clock }).webhooks.get(WEBHOOK_ID);
    expect(clock.pendingTimers).toBe(0);
  });
});
