import { type Client, type ClientOptions, createClient } from "#pigeonhole/client.js";
import type { Clock } from "#pigeonhole/base/clock.js";
import type { ApiServer } from "./api-server.js";

export const API_KEY = "svc_live_canary0123456789";
export const EVENT = { name: "order.shipped", email: "ada@example.com" };
export const WEBHOOK_ID = "whe_65b8f0a2c4d6e8f001234567";

const AT = "2026-01-31T09:30:00Z";
const IDS = { id: "65b8f0a2c4d6e8f001234567", contactId: "65b8f0a2c4d6e8f0089abcde" };
const TIMES = { occurredAt: AT, createdAt: AT };
const RESULT = { ...IDS, ...EVENT, ...TIMES, object: "contact_event", properties: {}, mode: "live", replayed: false };
const FAILED = { index: 1, code: "contact_not_found", message: "No contact has this address." };
/** Answers as documented. */
export const SENT = { status: 201, body: { ...RESULT, enrolled: [], resumed: 1 } };
export const SENT_BATCH = {
  body: {
    object: "contact_event_batch",
    accepted: [{ ...RESULT, enrolled: [], resumed: 1, index: 0 }],
    failed: [FAILED],
  },
};
export const ENDPOINT = { body: { id: WEBHOOK_ID, url: "https://app.example.com/webhooks/mail", createdAt: AT } };
export const WITH_SECRET = { status: 201, body: { ...ENDPOINT.body, secret: `whsec_${"example0".repeat(5)}abc` } };
export const EMPTY_PAGE = { body: { object: "list", data: [], hasMore: false, nextCursor: null } };

/** Time runs 200 times as fast, so that waits of seconds pass at once; remembers what was waited for. */
export interface FastClock extends Clock {
  waits: number[];
}

const SPEED = 200;
/** Longer than any wait, so that it can be told apart from them. */
const TIMEOUT_MS = 10_000_000;

export function fastClock(startMs = Date.UTC(2026, 1, 1), speed = SPEED): FastClock {
  const origin = performance.now();
  const waits: number[] = [];
  return {
    waits,
    now: () => startMs + Math.floor((performance.now() - origin) * speed),
    setTimer(callback, delayMs) {
      if (delayMs !== TIMEOUT_MS) waits.push(delayMs);
      const timeout = setTimeout(callback, delayMs / speed);
      return { cancel: () => clearTimeout(timeout) };
    },
  };
}

/** A client of the server whose jitter is none and whose waits pass fast. */
export function clientOf(server: Pick<ApiServer, "baseUrl">, options: Partial<ClientOptions> = {}): Client {
  return createClient({
    apiKey: API_KEY,
    baseUrl: server.baseUrl,
    timeoutMs: TIMEOUT_MS,
    clock: fastClock(),
    random: () => 0.5,
    ...options,
  });
}

/** What the promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("The promise did not reject.");
}
