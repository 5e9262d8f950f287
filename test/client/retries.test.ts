import { describe, expect, test } from "vitest";
import { ApiError, type Client, NoAnswerError, RateLimitError } from "#pigeonhole/client.js";
import { FAULTS, type Reply, startApi } from "./api-server.js";
import { ENDPOINT, EVENT, SENT, WEBHOOK_ID, clientOf, fastClock, rejection } from "./support.js";
import { findFreePort } from "../support/free-port.js";

const failing = (status: number): [string, Reply] => [String(status), { status, body: { code: "x" } }];
const TRANSIENT: [string, Reply][] = [
  ...[408, 425, 429, 500, 502, 503, 504, 599].map(failing),
  ["a connection closed before the answer", FAULTS.hangUp],
  ["an answer that breaks off", FAULTS.breakOff],
];
const FINAL = [400, 401, 403, 404, 405, 409, 410, 413, 422].map(failing);

const get = (client: Client) => client.webhooks.get(WEBHOOK_ID);
const withKey = (client: Client) => client.contactEvents.send(EVENT, { idempotencyKey: "k" });
const withoutKey = (client: Client) => client.contactEvents.send(EVENT);

describe("a call that cannot take effect twice", () => {
  test.each(TRANSIENT)("a call that only reads is repeated after %s", async (_, reply) => {
    const server = await startApi(reply, ENDPOINT);
    expect(await get(clientOf(server))).toMatchObject({ id: WEBHOOK_ID });
    expect(server.received).toHaveLength(2);
  });

  test("a call of which the service documents that a repeat changes nothing is repeated", async () => {
    const server = await startApi(FAULTS.hangUp, { body: { email: EVENT.email } });
    await clientOf(server).contacts.setAudiences(EVENT.email, { audienceIds: [] });
    expect(server.received).toHaveLength(2);
  });

  test.each(TRANSIENT)("a call with an idempotency key is repeated after %s, each byte the same", async (_, reply) => {
    const server = await startApi(reply, reply, { ...SENT, status: 200 });
    expect(await withKey(clientOf(server))).toMatchObject({ replayed: false });
    expect(server.received.map(({ headers }) => headers["idempotency-key"])).toEqual(["k", "k", "k"]);
    expect(new Set(server.received.map(({ body }) => body)).size).toBe(1);
  });

  test.each(FINAL)("no call is repeated after %s", async (_, reply) => {
    const server = await startApi(reply);
    for (const call of [get, withKey]) expect(await rejection(call(clientOf(server)))).toBeInstanceOf(ApiError);
    expect(server.received).toHaveLength(2);
  });
});

describe("a call that may take effect twice", () => {
  const calls: [string, (client: Client) => Promise<unknown>][] = [
    ["contactEvents.send without a key", withoutKey],
    ["webhooks.create", (client) => client.webhooks.create({ url: "https://a.example" })],
    ["webhooks.delete", (client) => client.webhooks.delete(WEBHOOK_ID)],
  ];
  test.each(TRANSIENT)("a call that may take effect twice is sent once, even after %s", async (_, reply) => {
    const server = await startApi(reply);
    for (const [index, [name, call]] of calls.entries()) {
      await expect(call(clientOf(server)), name).rejects.toThrow();
      expect(server.received, name).toHaveLength(index + 1);
    }
  });

  test("the error for a lost answer says that the call may have arrived", async () => {
    const server = await startApi(FAULTS.hangUp);
    const error = await rejection(withoutKey(clientOf(server)));
    expect(error).toBeInstanceOf(NoAnswerError);
    expect(error).toMatchObject({ code: "no_answer", reason: "connection", mayHaveArrived: true });
    expect((error as Error).cause).toBeInstanceOf(TypeError);
    expect((error as Error).message).toContain("it may have taken effect");
  });

  test("the error for a failed connection says that nothing arrived", async () => {
    const client = clientOf({ baseUrl: `http://127.0.0.1:${await findFreePort()}` });
    expect(await rejection(withoutKey(client))).toMatchObject({ mayHaveArrived: false, reason: "connection" });
  });

  const unreachable = (syscall: string): Error => {
    const cause = Object.assign(new Error(`${syscall} EHOSTUNREACH`), { code: "EHOSTUNREACH", syscall });
    return new TypeError("fetch failed", { cause });
  };
  const circle = new Error("round");
  circle.cause = circle;
  test.each([
    ["a failed connect", unreachable("connect"), false],
    ["a failed read", unreachable("read"), true],
    ["a failed write", unreachable("write"), true],
    ["an error that is its own cause", circle, true],
  ])("the error for %s says whether the call may have arrived", async (_, thrown, mayHaveArrived) => {
    const client = clientOf({ baseUrl: "https://api.example" }, { fetch: () => Promise.reject(thrown) });
    expect(await rejection(withoutKey(client))).toMatchObject({ code: "no_answer", mayHaveArrived });
  });
});

describe("waits between attempts", () => {
  const refusal = (retryAfter?: string): Reply => {
    const headers: Record<string, string> = retryAfter === undefined ? {} : { "retry-after": retryAfter };
    return { status: 503, body: { code: "x" }, headers };
  };

  async function waitsFor(
    reply: Reply,
    { speed, ...options }: { random?: () => number; maxRetries?: number; speed?: number } = {},
  ) {
    const clock = fastClock(Date.UTC(2026, 5, 1), speed);
    const server = await startApi(reply);
    const error = await rejection(get(clientOf(server, { clock, ...options })));
    return { error, waits: clock.waits, requests: server.received.length };
  }

  test("the wait doubles from half a second to eight seconds", async () => {
    const { waits, requests } = await waitsFor(refusal(), { maxRetries: 6 });
    expect([waits, requests]).toEqual([[500, 1_000, 2_000, 4_000, 8_000, 8_000], 7]);
  });

  test.each([
    ["least", 0, [375, 750]],
    ["most", 1, [625, 1_250]],
  ])("the wait varies by a quarter: %s", async (_, random, expected) => {
    expect((await waitsFor(refusal(), { random: () => random })).waits).toEqual(expected);
  });

  // retry-after.test.ts has every form of the header.
  test.each([
    ["7", [7_000, 7_000]],
    ["0", [500, 1_000]],
    ["soon", [500, 1_000]],
  ])("the wait is extended to Retry-After: %s", async (retryAfter, expected) => {
    expect((await waitsFor(refusal(retryAfter))).waits).toEqual(expected);
  });

  test("the client waits for a Retry-After of one minute, and leaves longer ones to the caller", async () => {
    expect((await waitsFor(refusal("60"), { maxRetries: 1, speed: 2_000 })).waits).toEqual([60_000]);
    const { error, waits, requests } = await waitsFor(refusal("61"));
    expect([waits, requests]).toEqual([[], 1]);
    expect(error).toMatchObject({ status: 503, retryAfterMs: 61_000 });
  });

  test("the client does not wait or retry if maxRetries is 0", async () => {
    expect(await waitsFor(refusal("1"), { maxRetries: 0 })).toMatchObject({ waits: [], requests: 1 });
  });

  test("the logger is told of each wait, without an address", async () => {
    const lines: string[] = [];
    const write = (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`);
    const logger = { debug: write, info: write, warn: write, error: write, child: () => logger };
    const server = await startApi(refusal());
    await rejection(clientOf(server, { logger, maxRetries: 1 }).contactEvents.list("ada@example.com"));
    expect(lines).toEqual(['api_call_retried {"call":"contactEvents.list","status":503,"retry":1,"waitMs":500}']);
  });
});

test("a 429 also delays the other calls that send events", async () => {
  const clock = fastClock();
  const busy = { status: 429, body: { code: "event_rate_limited" }, headers: { "retry-after": "40" } };
  const server = await startApi(busy, SENT);
  const client = clientOf(server, { clock });
  const begunAt = clock.now();
  expect(await rejection(client.contactEvents.send(EVENT))).toBeInstanceOf(RateLimitError);
  await client.contactEvents.send(EVENT);
  expect(clock.now() - begunAt).toBeGreaterThanOrEqual(40_000);
});
