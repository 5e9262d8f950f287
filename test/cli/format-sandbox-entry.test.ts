import pc from "picocolors";
import { describe, expect, test } from "vitest";
import { formatSandboxEntry } from "#pigeonhole/cli/values/format-sandbox-entry.js";
import type { WebhookEndpoint } from "#pigeonhole/contract/webhook-endpoint.js";
import type { AttemptRow } from "pigeonhole/sandbox";

const paint = pc.createColors(false);
const url = "http://127.0.0.1:3000/hooks";

function lines(row: Partial<AttemptRow>, advisedEndpoint?: string): string[] {
  const whole: AttemptRow = {
    id: "attempt",
    endpointId: "whe_1",
    deliveryId: "delivery",
    kind: "event",
    attempt: 1,
    status: "delivered",
    responseCode: 200,
    outcome: null,
    contentType: null,
    durationMs: 12,
    error: null,
    eventId: "evt_1",
    eventType: "email.bounced",
    createdAt: "2026-01-02T14:02:11.000Z",
    nextAttemptAt: null,
    fault: null,
    ...row,
  };
  const present = { endpoints: [], allBy: "--endpoint", pathBy: (id: string) => `<path of ${id}>`, advisedEndpoint };
  const [first = "", ...more] = formatSandboxEntry({ atMs: 0, kind: "attempt", row: whole, url }, paint, present).split(
    "\n",
  );
  return [first.slice("14:02:11  ".length), ...more];
}

const failed: Partial<AttemptRow> = {
  status: "failed",
  responseCode: 503,
  error: "HTTP 503",
  nextAttemptAt: "2026-01-02T14:03:11.000Z",
};

describe("the sandbox's line of an attempt", () => {
  test.each<[string, Partial<AttemptRow>, string]>([
    ["taken", { outcome: "accepted" }, "✓ email.bounced  evt_1  attempt 1  200 accepted  12 ms"],
    ["a duplicate", { outcome: "duplicate" }, "✓ email.bounced  evt_1  attempt 1  200 duplicate  12 ms"],
    ["parked", { outcome: "parked" }, "! email.bounced  evt_1  attempt 1  200 parked  12 ms"],
    ["of another receiver", {}, "✓ email.bounced  evt_1  attempt 1  200  12 ms"],
    [
      "to be retried",
      { ...failed, outcome: "overloaded" },
      `✗ email.bounced  evt_1  attempt 1  503 overloaded  12 ms  ${url}  again in 1 min`,
    ],
    [
      "unanswered",
      { ...failed, responseCode: null, error: "no answer: dropped" },
      "✗ email.bounced  evt_1  attempt 1  no",
    ],
  ])("has the outcome beside the status: %s", (_, row, words) => {
    expect(lines(row)).toEqual([expect.stringContaining(words)]);
  });

  test.each<[string, Partial<AttemptRow>, string]>([
    [
      "a 404",
      { ...failed, responseCode: 404 },
      "The app has no POST route at /hooks: mount the receiver there, or give its path, as in <path of whe_1>.",
    ],
    ["a page", { contentType: "text/html" }, "An HTML page is no answer of a receiver"],
    ["another secret", { ...failed, outcome: "unverified" }, "The app has another secret than the endpoint"],
  ])("is followed by advice on %s", (_, row, words) => {
    expect(lines(row).slice(1)).toEqual([expect.stringMatching(/^ {10}! /)]);
    expect(lines(row)[1]).toContain(words);
  });

  test.each<[string, Partial<AttemptRow>, string | undefined]>([
    ["what the dev server forwarded, whose line has it", { ...failed, responseCode: 404 }, "whe_1"],
    ["an answer that a fault made up", { ...failed, responseCode: 404, fault: "status" }, undefined],
  ])("has no advice on %s", (_, row, advisedEndpoint) => {
    expect(lines(row, advisedEndpoint)).toHaveLength(1);
  });
});

test.each([
  ["there is none", [], "form.submitted", "there is no endpoint; --endpoint makes one"],
  ["none has its type", [{ eventTypes: ["email.sent"] }], "form.submitted", "no endpoint receives form.submitted;"],
  // No type of its own: the service's default set, which has no forms.
  ["none names it", [{ eventTypes: ["*"] }], "form.submitted", "no endpoint receives form.submitted; --endpoint"],
  ["it has another address", [{ eventTypes: ["*"] }], "email.sent", "the endpoints receive events of other addresses"],
  ["all are off", [{ eventTypes: ["*"], enabled: false }], "email.sent", "every endpoint is switched off"],
])("the sandbox's line of an event says why no endpoint receives it: %s", (_, some, type, words) => {
  const endpoints = some.map((endpoint) => ({ enabled: true, ...endpoint })) as WebhookEndpoint[];
  const present = { endpoints, allBy: "--endpoint", pathBy: String };
  const line = formatSandboxEntry({ atMs: 0, kind: "event", eventId: "evt_1", type, deliveries: 0 }, paint, present);
  expect(line).toContain(`no endpoint receives it, so it is lost: ${words}`);
});
