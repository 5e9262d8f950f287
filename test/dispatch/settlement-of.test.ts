import { expect, test } from "vitest";
import { DoNotRetry, PigeonholeError, RetryAfter, type RetryPolicy } from "pigeonhole";
import { RateLimitError, ServerError } from "pigeonhole/client";
import { HandlerRegistry } from "#pigeonhole/dispatch/registry.js";
import { DEFAULT_RETRY } from "#pigeonhole/dispatch/retry-policy.js";
import { type Unfinished, settlementOf } from "#pigeonhole/dispatch/settlement-of.js";

const NOW = 1_000_000;
const HOUR = 3_600_000;

interface Given {
  waitBegan?: number;
  failures?: number;
  random?: number;
  retry?: Partial<RetryPolicy>;
}

function settle(end: Unfinished, { random = 0.5, retry = {}, ...changes }: Given = {}) {
  const registry = new HandlerRegistry({}, { concurrency: 1, retry: DEFAULT_RETRY });
  registry.on(["email.sent"], () => undefined, { retry });
  const [handler = expect.unreachable()] = registry.all;
  const times = { receivedAt: 0, signedAt: 0, dueAt: 0 };
  const counts = { attempt: 1, failures: 0, crashes: 0 };
  const body = new Uint8Array();
  const work = { seq: 1, handler: handler.name, token: 1, eventId: "evt_1", ...times, ...counts, ...changes, body };
  return settlementOf(end, { work, handler, dropSteps: false, records: undefined, now: NOW, random: () => random });
}

/** What becomes of the work: in how many milliseconds it runs again, and whether that is a free wait. */
function after(error: unknown, given?: Given) {
  const settlement = settle({ kind: "failed", error }, given);
  if (settlement.to !== "pending") return settlement.to === "dead" ? settlement.reason : settlement.to;
  const inMs = settlement.dueAt - NOW;
  return settlement.wait === undefined ? inMs : { waits: inMs, ...settlement.wait };
}

const waits = (ms: number, holds = "work") => ({ waits: ms, holds, began: NOW });

test("a failed run keeps its error in full", () => {
  expect(settle({ kind: "failed", error: new Error("no answer") })).toMatchObject({
    error: "Error: no answer",
    stack: expect.stringMatching(/^Error: no answer\n {4}at /) as string,
  });
});

test("a run that a stop ended is due at once, and the stop is not kept as an error in full", () => {
  const settlement = settle({ kind: "stopped", error: new Error("the receiver stopped") });
  expect(settlement).toMatchObject({ to: "pending", dueAt: NOW, error: "Error: the receiver stopped" });
  expect(settlement).not.toHaveProperty("stack");
});

const POLICY = { initialMs: 1_000, factor: 3, maxMs: 20_000, jitter: 0.5, maxAttempts: 6 };
test.each<[string, Given, unknown]>([
  ["first", {}, 10_000],
  ["first, at the least chance", { random: 0 }, 8_000],
  ["first, at the greatest chance", { random: 1 - Number.EPSILON }, 12_000],
  ["second", { failures: 1 }, 20_000],
  ["13th", { failures: 12 }, 10_000 * 2 ** 12],
  ["14th", { failures: 13 }, "attempts_spent"],
  ["first under a policy of its own", { retry: POLICY, random: 0.25 }, 750],
  ["third under it", { retry: POLICY, random: 0.25, failures: 2 }, 6_750],
  ["fourth under it, limited", { retry: POLICY, random: 0.25, failures: 3 }, 15_000],
  ["sixth under it", { retry: POLICY, failures: 5 }, "attempts_spent"],
])("after the %s failure, a handler runs again as its policy says", (_, given, expected) => {
  expect(after(new Error("not now"), given)).toEqual(expected);
});

test("the default retry policy has 14 attempts within 20 to 26 hours on average chances", () => {
  const spans = Array.from({ length: 13 }, (_, failures) => Number(after(new Error("not now"), { failures })));
  const hours = spans.reduce((sum, ms) => sum + ms, 0) / HOUR;
  expect(hours).toBeGreaterThan(20);
  expect(hours).toBeLessThan(26);
});

const answer = { call: "contacts.get", code: "busy", message: "busy", param: undefined, requestId: undefined };
const revoked = (): unknown => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
test.each<[string, unknown, unknown, Given?]>([
  ["DoNotRetry", new DoNotRetry("the address does not exist"), "do_not_retry"],
  ["RetryAfter in milliseconds", new RetryAfter("busy", 1_234), waits(1_234)],
  ["RetryAfter in fractions of a millisecond", new RetryAfter("busy", 1_234.6), waits(1_235)],
  ["RetryAfter at a date", new RetryAfter("busy", new Date(NOW + 5_000)), waits(5_000)],
  ["RetryAfter that holds", new RetryAfter("busy", 5_000, { holds: "handler" }), waits(5_000, "handler")],
  ["RetryAfter after the last attempt", new RetryAfter("busy", 60_000), waits(60_000), { failures: 13 }],
  // Those of less than a second spend an attempt, and so do those whose first began too long ago.
  ["RetryAfter at once", new RetryAfter("busy", 0), 0],
  ["RetryAfter at a date that has passed", new RetryAfter("busy", new Date(NOW - 60_000)), 0],
  ["RetryAfter of less than a second", new RetryAfter("busy", 999), 999],
  ["RetryAfter at once, at last", new RetryAfter("busy", 0), "attempts_spent", { failures: 13 }],
  [
    "RetryAfter when the free waits are over",
    new RetryAfter("busy", 60_000),
    10_000 * 2 ** 9,
    { waitBegan: NOW - 24 * HOUR, failures: 9 },
  ],
  ["429 with Retry-After", new RateLimitError({ ...answer, status: 429, retryAfterMs: 60_000 }), waits(60_000)],
  ["503 with Retry-After", new ServerError({ ...answer, status: 503, retryAfterMs: 60_000 }), waits(60_000)],
  ["503 that asks for years", new ServerError({ ...answer, status: 503, retryAfterMs: 9e11 }), waits(24 * HOUR)],
  ["429 without it", new RateLimitError({ ...answer, status: 429, retryAfterMs: undefined }), 10_000],
  ["503 that asks for no wait", new ServerError({ ...answer, status: 503, retryAfterMs: 0 }), 10_000],
  ["500 with Retry-After", new ServerError({ ...answer, status: 500, retryAfterMs: 60_000 }), 10_000],
  ["error of another receiver that was stopped", new PigeonholeError("stopped", "Another one."), 10_000],
  ["proxy that was revoked", revoked(), 10_000],
  ["error of the service", new PigeonholeError<string>("constructor", "of the service"), 10_000],
  [
    "error of the handler with the code of a mistake",
    Object.assign(new Error("mine"), { code: "commit_async" }),
    10_000,
  ],
])("what becomes of the work after %s", (_, error, expected, given) => {
  expect(after(error, given)).toEqual(expected);
});
