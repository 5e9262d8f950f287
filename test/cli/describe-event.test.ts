import { isoTime } from "#pigeonhole/base/iso-time.js";
import pc from "picocolors";
import { describe, expect, test } from "vitest";
import { describeContactEvent } from "#pigeonhole/cli/values/describe-contact-event.js";
import { describeEvent } from "#pigeonhole/cli/inbox/describe-event.js";
import { eventTimeline } from "#pigeonhole/operator/event-timeline.js";
import type { TimelineEntry } from "#pigeonhole/operator/event-timeline.js";
import type { HandlerDetail } from "#pigeonhole/store/inbox-view.js";
import type { OutboxView } from "#pigeonhole/store/outbox.js";
import { eventDetail } from "../support/event-detail.js";
import { outboxView } from "../support/outbox-view.js";

const T = Date.UTC(2026, 0, 31);
/** After any day on which this runs. */
const LATER = Date.UTC(2126, 0, 31);
const HOSTILE = "\u001b[2J\u202e\n<b>";
const ESCAPED = String.raw`\u001b[2J\u202e\n<b>`;
const PLAIN = pc.createColors(false);

const pending = outboxView({
  name: "greeted",
  contact: "ann@example.com",
  recordedAt: isoTime(T),
  occurredAt: isoTime(T),
  inboxEventId: "evt_1",
});

describe("a contact event", () => {
  const HEAD = "  greeted for ann@example.com: ";
  const RECORDED = "recorded 2026-01-31T00:00:00.000Z";
  const SETTLED = "settled 2026-01-31T00:00:09.000Z";
  const settledAt = isoTime(T + 9_000);
  const refusal = {
    reason: "refused",
    code: "contact_not_found",
    param: "email",
    message: "No such contact.",
  } as const;
  const lost = { call: 7, callEvents: 2 };

  test.each<[string, Partial<OutboxView>, string[]]>([
    ["waits for its first call", {}, [`${HEAD}… pending, 0 attempts, next try now, ${RECORDED}`]],
    [
      "is part of a call that is being made",
      { state: "running", attempts: 1 },
      [`${HEAD}… running, 1 attempt, being sent, ${RECORDED}`],
    ],
    [
      "is tried again",
      { state: "retrying", attempts: 2, dueAt: isoTime(LATER), error: "HTTP 503" },
      [`${HEAD}… retrying, 2 attempts, next try 2126-01-31T00:00:00.000Z, ${RECORDED}`, "    error   HTTP 503"],
    ],
    [
      "was taken by the API",
      { state: "done", attempts: 1, settledAt, remoteId: "cev_1" },
      [`${HEAD}✓ done, 1 attempt, stored as cev_1, ${SETTLED}`],
    ],
    [
      "was refused",
      { state: "dead", attempts: 1, settledAt, ...refusal },
      [`${HEAD}✗ dead (refused), 1 attempt, ${SETTLED}`, "    answer  contact_not_found · email · No such contact."],
    ],
    [
      "was discarded after a refusal, which stays the last answer",
      { state: "discarded", attempts: 1, settledAt, code: "contact_not_found", message: "discarded" },
      [`${HEAD}– discarded, 1 attempt, ${SETTLED}`, "    answer  contact_not_found"],
    ],
    [
      "is dead with its call, of which it is not known whether it arrived",
      { state: "dead", attempts: 9, settledAt, reason: "too_old", ...lost },
      [
        `${HEAD}✗ dead (too_old), 9 attempts, ${SETTLED}`,
        "    call    may have arrived; a retry repeats it as it was, with 2 events",
      ],
    ],
    [
      "was erased",
      { name: "", contact: "", state: "discarded", settledAt },
      [`  (erased): – discarded, 0 attempts, ${SETTLED}`],
    ],
  ])("that %s is shown so, with its attempts, next try and last answer", (_, changes, lines) => {
    const [head, ...details] = lines;
    expect(describeContactEvent({ ...pending, ...changes }, { inFront: undefined, paint: PLAIN })).toEqual([
      head,
      "    key     key_1",
      ...details,
    ]);
  });

  test("that waits behind a call that fails says so, with that call", () => {
    const inFront: OutboxView = {
      ...pending,
      key: "key_0",
      state: "retrying",
      dueAt: isoTime(T + 600_000),
      error: "HTTP 503",
    };
    const [head, , waits] = describeContactEvent(pending, { inFront, paint: PLAIN });
    expect(head).toContain("next try later");
    expect(waits).toBe("    why     waits behind the call of key_0, which fails: HTTP 503");
  });

  test("that has hostile texts shows them on the same lines, with signs in place of what acts on a terminal", () => {
    const texts = { key: HOSTILE, reason: "refused", code: HOSTILE, param: HOSTILE, message: HOSTILE } as const;
    const view: OutboxView = {
      ...pending,
      ...texts,
      state: "dead",
      settledAt,
      name: HOSTILE,
      contact: HOSTILE,
      error: HOSTILE,
    };
    expect(describeContactEvent(view, { inFront: undefined, paint: PLAIN })).toEqual([
      `  ${ESCAPED} for ${ESCAPED}: ✗ dead (refused), 0 attempts, ${SETTLED}`,
      `    key     ${ESCAPED}`,
      `    answer  ${ESCAPED} · ${ESCAPED} · ${ESCAPED}`,
      `    error   ${ESCAPED}`,
    ]);
  });
});

test("work that a gate keeps waiting names it, whether a process has it or not", () => {
  const work = {
    reason: null,
    error: null,
    maxAttempts: 5,
    settledAt: null,
    retryRequestedAt: null,
  };
  const open = { ...work, failed: null, steps: [] };
  const handlers: HandlerDetail[] = [
    { ...open, handler: "crm", state: "running", attempts: 1, dueAt: null, waitsFor: "key" },
    { ...open, handler: "mail", state: "pending", attempts: 0, dueAt: isoTime(T), waitsFor: "paused" },
    { ...open, handler: "runs", state: "running", attempts: 1, dueAt: null, waitsFor: null },
  ];
  const event = eventDetail(T, { state: "running", handlers });
  const timeline = eventTimeline(event, { contactEvents: [], known: [] });
  const text = describeEvent({ event, contactEvents: [], inFront: undefined, timeline }, null, PLAIN);
  expect(text).toMatch(/ crm: .*running, 1 of 5 attempts, handler waits: key$/m);
  expect(text).toMatch(/ mail: .*pending, 0 of 5 attempts, due .*Z, handler waits: paused$/m);
  expect(text).toMatch(/ runs: .*running, 1 of 5 attempts$/m);
  expect(text).toContain("crm runs, or waits in a process for a free place (handler waits: key).");
  expect(text).toContain("mail waits for its first run (handler waits: paused).");
});

test("lines of a time line have times or none, and the beginning of what others wrote, escaped", () => {
  const event = eventDetail(T, { state: "done", handlers: [] });
  const entry: TimelineEntry = {
    kind: "more_runs",
    at: null,
    handler: "crm",
    attempt: null,
    text: "crm: 1 more run, number 2, of which no error is kept.",
    detail: null,
    key: null,
  };
  const failed: TimelineEntry = { ...entry, kind: "failed", at: "2026-01-31T00:00:00.000Z", attempt: 3 };
  const timeline = [entry, { ...failed, text: `crm failed: ${HOSTILE.repeat(1_000)}` }];
  const text = describeEvent({ event, contactEvents: [], inFront: undefined, timeline }, null, PLAIN);
  const [, lines = ""] = /\ntime line\n([\s\S]*)\n\n/.exec(text) ?? [];
  const [first, second = "", ...more] = lines.split("\n");
  expect([first, more]).toEqual([`  time not kept             ${entry.text}`, []]);
  expect(second.startsWith(`  2026-01-31T00:00:00.000Z  crm failed: ${ESCAPED}`)).toBe(true);
  expect(second.endsWith("…  run 3")).toBe(true);
  expect(second.length).toBe(28 + 300 + "  run 3".length);
});
