import { ApiError, InvalidInputError, NoAnswerError } from "pigeonhole/client";
import { describe, expect, test } from "vitest";
import { MINUTE } from "#pigeonhole/base/duration.js";
import { judgeFailure } from "#pigeonhole/outbox/send-verdict.js";
import type { FrozenSend } from "#pigeonhole/store/outbox.js";

const NOW = 1_800_000_000_000;

interface Case {
  /** Of the answer. */
  status: number;
  code?: string;
  param?: string;
  /** Tries of the client until this answer. */
  attempts?: number;
  /** Events of the call. */
  of?: number;
  /** Leases of the call. */
  attempt?: number;
  /** How long ago the events occurred, in milliseconds. */
  ageMs?: number;
}

const sendOf = ({ of = 3, attempt = 1, ageMs = 0 }: Partial<Case>): FrozenSend => ({
  send: 1,
  token: 1,
  key: "key_1",
  kind: of === 1 ? "single" : "batch",
  attempt,
  events: Array.from({ length: of }, (_, seq) => ({ seq, body: "{}", occurredAt: NOW - ageMs })),
});

/** `retry`, `given_up` with its reason, or the events as they are settled. */
function verdictOn(error: unknown, send: Partial<Case> = {}): string {
  const verdict = judgeFailure(error, sendOf(send), NOW);
  if (verdict.kind === "retry") return verdict.isConfiguration ? "retry, by configuration" : "retry";
  if (verdict.kind === "given_up") return `given_up: ${verdict.reason}`;
  return verdict.results.map(({ to }) => to).join();
}

function verdictOf({ status, code = "teapot", param, attempts, ...send }: Case): string {
  const answer = { call: "contactEvents.send", message: "no", requestId: undefined, retryAfterMs: undefined };
  return verdictOn(new ApiError({ ...answer, status, code, param, attempts }), send);
}

describe("the verdict on a call", () => {
  test.each<[string, Case, string]>([
    ["too many calls", { status: 429 }, "retry"],
    ["a failure of the service", { status: 500 }, "retry"],
    ["a conflict of the moment", { status: 409 }, "retry"],
    ["401", { status: 401 }, "retry, by configuration"],
    ["403 for a scope", { status: 403, code: "insufficient_scope" }, "retry, by configuration"],
    ["404 for the path", { status: 404, code: "resource_not_found" }, "retry, by configuration"],
    ["404 of another program", { status: 404, code: "invalid_answer" }, "retry, by configuration"],
    ["400 of a proxy", { status: 400, code: "invalid_answer", of: 1 }, "retry, by configuration"],
    ["405", { status: 405, code: "method_not_allowed" }, "retry, by configuration"],
    ["a redirect", { status: 302, code: "redirect_refused" }, "retry, by configuration"],
    ["404 for the contact", { status: 404, code: "contact_not_found", of: 1 }, "dead"],
    ["a fault of one event of a batch", { status: 422, param: "events.1.name" }, "again,dead,again"],
    ["a fault of no event of a batch", { status: 422, param: "events" }, "dead,dead,dead"],
    ["a fault of an event that is not there", { status: 422, param: "events.7.name" }, "dead,dead,dead"],
    ["a fault that names nothing", { status: 422 }, "dead,dead,dead"],
    ["the same after a try that may have arrived", { status: 422, attempt: 2 }, "given_up: refused"],
    ["the same after a try of the client", { status: 422, attempts: 2 }, "given_up: refused"],
    ["a key that is in use", { status: 422, code: "idempotency_key_reuse" }, "given_up: refused"],
    ["a status that is not known", { status: 418, of: 1 }, "given_up: refused"],
    ["a body that breaks a rule in each try", { status: 422, code: "invalid_parameter", attempt: 2 }, "dead,dead,dead"],
    [
      "a time that an earlier try may have passed",
      { status: 422, code: "invalid_event", param: "events.1.occurredAt", attempt: 2 },
      "given_up: too_old",
    ],
  ])("the verdict on a call that is answered with %s", (_, answer, expected) => {
    expect(verdictOf(answer)).toBe(expected);
  });

  test.each<[string, Partial<Case>, string]>([
    ["without a param is sent again", {}, "retry"],
    ["for its time is sent again", { param: "occurredAt" }, "retry"],
    [
      "for its time is sent again until it is five minutes old",
      { param: "occurredAt", ageMs: 5 * MINUTE - 1 },
      "retry",
    ],
    ["for its time is dead from then on", { param: "occurredAt", ageMs: 5 * MINUTE }, "dead"],
    ["of a clock that was set back since is dead", { param: "occurredAt", ageMs: -5 * MINUTE }, "dead"],
    ["for another field is dead at once", { param: "properties" }, "dead"],
  ])("a young event that the service calls invalid %s", (_, given, expected) => {
    expect(verdictOf({ status: 422, code: "invalid_event", of: 1, ...given })).toBe(expected);
  });

  test.each([
    [1, "again,dead,again"],
    [2, "given_up: refused"],
  ])("a batch that a newer client refuses at its try %i is settled as %s", (attempt, expected) => {
    const fault = { code: "invalid_event", param: "events.1.name", message: "Not any more." } as const;
    expect(verdictOn(new InvalidInputError("contactEvents.sendBatch", fault), { attempt })).toBe(expected);
  });

  test.each([
    new NoAnswerError({ call: "x", reason: "timeout", mayHaveArrived: true, message: "late", cause: undefined }),
    new RangeError("The vault refused."),
    "no error",
  ])("a call that has no answer is sent again: %s", (error) => {
    expect(verdictOn(error)).toBe("retry");
  });
});
