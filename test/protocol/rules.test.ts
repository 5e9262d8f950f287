import { readFileSync } from "node:fs";
import { MAX_EVENT_ID_LENGTH } from "#pigeonhole/protocol/envelope.js";
import {
  DEFAULT_EVENT_TYPES,
  EVENT_TYPES,
  EXPLICIT_EVENT_TYPES,
  isDeliveredStatus,
  isEventType,
  isRetryableStatus,
  LIMITS,
  MAX_RETRY_SPAN_MS,
  RETRY_SCHEDULE,
  retryDelay,
  SECRET_SHAPE,
  SIGNATURE_ASSUMPTIONS,
} from "pigeonhole/protocol";
import { describe, expect, test } from "vitest";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe("the retry schedule of the service", () => {
  test("the retry schedule of the service has 8 attempts over about 27.5 hours", () => {
    expect(RETRY_SCHEDULE.attempts).toBe(8);
    expect(RETRY_SCHEDULE.waitsMs.map((ms) => ms / MINUTE)).toEqual([1, 5, 30, 120, 300, 600, 600]);
    const total = RETRY_SCHEDULE.waitsMs.reduce((sum, ms) => sum + ms, 0);
    expect(total / HOUR).toBeCloseTo(27.6, 5);
    expect(MAX_RETRY_SPAN_MS / HOUR).toBeCloseTo(55, 5);
  });

  const middle = () => 0.5;
  test("the retry schedule of the service waits as listed, and not after the last attempt", () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8].map((attempt) => retryDelay({ attempt, random: middle }));
    expect(waits).toEqual([...RETRY_SCHEDULE.waitsMs, undefined]);
  });

  test("the retry schedule of the service varies each wait by up to 10 % both ways", () => {
    expect(retryDelay({ attempt: 1, random: () => 0 })).toBe(54_000);
    expect(retryDelay({ attempt: 1, random: () => 1 })).toBe(66_000);
  });

  test.each([
    [1, 2 * MINUTE, 2 * MINUTE],
    [1, 30_000, MINUTE],
    [1, 6 * HOUR, 6 * HOUR],
    [1, 7 * HOUR, 6 * HOUR],
    [6, 7 * HOUR, 10 * HOUR],
  ])("the wait after attempt %i with a Retry-After of %i ms is %i ms", (attempt, retryAfterMs, wait) => {
    expect(retryDelay({ attempt, random: middle, retryAfterMs })).toBe(wait);
  });

  test("the retry schedule of the service says which answers are tried again", () => {
    const all = Array.from({ length: 500 }, (_, index) => index + 100);
    const retried = all.filter((status) => isRetryableStatus(status));
    expect(retried).toEqual([408, 425, 429, ...Array.from({ length: 100 }, (_, index) => index + 500)]);
    expect(isRetryableStatus(null)).toBe(true);
    expect(isRetryableStatus(600)).toBe(false);
    expect(all.filter((status) => isDeliveredStatus(status))).toEqual(Array.from({ length: 100 }, (_, i) => i + 200));
  });
});

describe("event types", () => {
  test("the service has 24 event types: 14 by default and 10 that must be named", () => {
    expect(DEFAULT_EVENT_TYPES).toHaveLength(14);
    expect(EXPLICIT_EVENT_TYPES).toHaveLength(10);
    expect(new Set(EVENT_TYPES).size).toBe(24);
    expect(EVENT_TYPES.every((type) => isEventType(type))).toBe(true);
  });

  const others = ["", "email", "email.", "Email.Sent", "email.sent ", "__proto__", "constructor", "toString"];
  test.each(others)("the text %j is not an event type", (type) => {
    expect(isEventType(type)).toBe(false);
  });
});

test("the limits are those of the documents", () => {
  const disabling = { disableAfterFailures: 100, disablingStatus: 410 };
  expect(LIMITS).toMatchObject({ deliveryTimeoutMs: 5000, toleranceSeconds: 300, ...disabling });
  expect(SECRET_SHAPE).toEqual({ prefix: "whsec_", keyLength: 43 });
});

describe("assumptions", () => {
  test("the assumptions name the values that are in force", () => {
    const page = readFileSync("docs/assumptions.md", "utf8");
    expect(page).toContain(`1 to ${MAX_EVENT_ID_LENGTH} characters`);
    expect(page.toLowerCase()).toContain(`header ${SIGNATURE_ASSUMPTIONS.timestampHeader}`);
    expect(page.toLowerCase()).toContain(`in ${SIGNATURE_ASSUMPTIONS.signatureHeader}`);
    expect(page).toContain(`gives ${MAX_RETRY_SPAN_MS / HOUR} hours`);
  });

  test("the defaults cannot be changed for all receivers", () => {
    expect(Object.isFrozen(SIGNATURE_ASSUMPTIONS) && Object.isFrozen(SIGNATURE_ASSUMPTIONS.encodings)).toBe(true);
    expect(SIGNATURE_ASSUMPTIONS).toEqual({
      signatureHeader: "x-svc-signature",
      timestampHeader: "x-svc-timestamp",
      timestampIn: "either",
      encodings: ["hex", "base64", "base64url"],
    });
  });
});
