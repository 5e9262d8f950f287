import { expect, test } from "vitest";
import { HandlerRegistry } from "#pigeonhole/dispatch/registry.js";
import { DEFAULT_RETRY, RetryAfter } from "#pigeonhole/dispatch/retry-policy.js";
import { RateLimitError, ServerError } from "pigeonhole/client";
import { type Unfinished, settlementOf } from "#pigeonhole/dispatch/settlement-of.js";

const registry = new HandlerRegistry({}, { concurrency: 1, retry: DEFAULT_RETRY });
registry.on(["email.sent"], () => undefined, {});

function settle(end: Unfinished, changes: { waitBegan?: number; failures?: number } = {}) {
  const [handler] = registry.all;
  if (handler === undefined) return expect.unreachable();
  const times = { receivedAt: 0, signedAt: 0, dueAt: 0 };
  const counts = { attempt: 1, failures: 0, crashes: 0 };
  const body = new Uint8Array();
  const work = { seq: 1, handler: handler.name, token: 1, eventId: "evt_1", ...times, ...counts, ...changes, body };
  return settlementOf(end, { work, handler, dropSteps: false, records: undefined, now: 5, random: () => 0.5 });
}

test("a failed run keeps its error in full", () => {
  const error = new Error("no answer");
  expect(settle({ kind: "failed", error })).toMatchObject({
    to: "pending",
    dueAt: 10_005,
    error: "Error: no answer",
    stack: expect.stringMatching(/^Error: no answer\n {4}at /) as string,
  });
});

test("a run that a stop ended is due at once, and the stop is not kept as an error in full", () => {
  const settlement = settle({ kind: "stopped", error: new Error("the receiver stopped") });
  expect(settlement).toMatchObject({ to: "pending", dueAt: 5, error: "Error: the receiver stopped" });
  expect(settlement).not.toHaveProperty("stack");
});

const answer = { call: "contacts.get", code: "busy", message: "busy", param: undefined, requestId: undefined };

test.each([
  new RateLimitError({ ...answer, status: 429, retryAfterMs: 60_000 }),
  new ServerError({ ...answer, status: 503, retryAfterMs: 60_000 }),
])("an answer of the service with Retry-After is a wait: $name", (error) => {
  expect(settle({ kind: "failed", error }, { failures: 13 })).toMatchObject({
    to: "pending",
    dueAt: 60_005,
    wait: { holds: "work", began: 5 },
  });
});

test.each([
  new RateLimitError({ ...answer, status: 429, retryAfterMs: undefined }),
  new ServerError({ ...answer, status: 503, retryAfterMs: 0 }),
  new ServerError({ ...answer, status: 500, retryAfterMs: 60_000 }),
])("another answer of the service is a failure, after which the handler runs again as its policy says", (error) => {
  const settlement = settle({ kind: "failed", error });
  expect(settlement).toMatchObject({ to: "pending", dueAt: 10_005 });
  expect(settlement).not.toHaveProperty("wait");
});

test("an answer of the service that asks for years is a wait of a day", () => {
  const error = new ServerError({ ...answer, status: 503, retryAfterMs: 9e11 });
  expect(settle({ kind: "failed", error })).toMatchObject({ dueAt: 24 * 3_600_000 + 5, wait: { began: 5 } });
});

test("when the free waits are over, the handler runs again no sooner than its policy says", () => {
  const error = new RetryAfter("busy", 60_000);
  const settlement = settle({ kind: "failed", error }, { waitBegan: 5 - 24 * 3_600_000, failures: 9 });
  expect(settlement).toMatchObject({ to: "pending", dueAt: 5 + 10_000 * 2 ** 9 });
});
