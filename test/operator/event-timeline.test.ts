import { describe, expect, test } from "vitest";
import {
  type TimelineEntry,
  type TimelineParts,
  eventTimeline,
  mergeTimelines,
} from "#pigeonhole/operator/event-timeline.js";
import type { ContactEventRow } from "#pigeonhole/store/outbox.js";
import type { HandlerDetail } from "#pigeonhole/store/inbox-view.js";
import { eventDetail } from "../support/event-detail.js";

const T = 1_800_000_000_000;
const iso = (at: number): string => new Date(at).toISOString();

function timelineOf(work: Partial<HandlerDetail>, parts: Partial<TimelineParts> = {}) {
  const handler: HandlerDetail = {
    handler: "crm",
    state: "dead",
    reason: "attempts_spent",
    error: "Error: no",
    attempts: 5,
    maxAttempts: 5,
    dueAt: null,
    settledAt: iso(T + 9_000),
    retryRequestedAt: null,
    waitsFor: null,
    failed: {
      first: { attempt: 1, stack: "Error: first", at: iso(T + 1_000) },
      last: { attempt: 5, stack: "Error: last", at: iso(T + 9_000) },
    },
    steps: [],
    ...work,
  };
  const event = eventDetail(T, { state: handler.state, handlers: [handler] });
  return eventTimeline(event, { contactEvents: [], known: [], ...parts }).slice(2);
}

test("failed runs have their times, those between stand between, and the next run of pending work follows", () => {
  const failed = {
    first: { attempt: 1, stack: "Error: first", at: iso(T + 1_000) },
    last: { attempt: 4, stack: "Error: last", at: iso(T + 4_000) },
  };
  const pending = { state: "pending", attempts: 4, dueAt: iso(T + 9_000), settledAt: null, reason: null } as const;
  expect(timelineOf({ ...pending, failed }).map(({ kind, at, attempt }) => [kind, at, attempt])).toEqual([
    ["failed", iso(T + 1_000), 1],
    ["more_runs", null, null],
    ["failed", iso(T + 4_000), 4],
    ["next_run", iso(T + 9_000), 4],
  ]);
});

test("entries without a time keep their place among those of their own handler", () => {
  const failed = { attempt: 1, stack: "Error: no", at: iso(T + 1_000) };
  const base = { reason: null, error: null, maxAttempts: 5, dueAt: null, retryRequestedAt: null };
  const other = { ...base, waitsFor: null, steps: [] };
  const running: HandlerDetail = {
    ...other,
    handler: "aaa",
    state: "running",
    attempts: 2,
    settledAt: null,
    failed: { first: failed, last: failed },
  };
  const done: HandlerDetail = {
    ...other,
    handler: "bbb",
    state: "done",
    attempts: 1,
    settledAt: iso(T + 500),
    failed: null,
  };
  const event = eventDetail(T, { state: "running", handlers: [running, done] });
  const entries = eventTimeline(event, { contactEvents: [], known: [] });
  expect(entries.slice(2).map(({ kind, handler }) => [kind, handler])).toEqual([
    ["done", "bbb"],
    ["failed", "aaa"],
    ["running", "aaa"],
  ]);
});

test("work of a paused handler waits after the run that failed since the pause, and says when it is due", () => {
  const last = { attempt: 1, stack: "Error: no", at: iso(T + 4_000) };
  const pending = { state: "pending", attempts: 1, dueAt: iso(T + 9_000), settledAt: null, reason: null } as const;
  const known = [{ handler: "crm", paused: { since: iso(T + 2_000), by: "ann" } }];
  const entries = timelineOf({ ...pending, failed: { first: last, last } }, { known });
  expect(entries.map(({ kind, at }) => [kind, at])).toEqual([
    ["failed", iso(T + 4_000)],
    ["waits", iso(T + 4_000)],
  ]);
  expect(entries[1]?.text).toBe(
    `crm is paused by ann: its next run, due at ${iso(T + 9_000)}, waits until it is resumed.`,
  );
});

test("one run between has its number, and several have theirs", () => {
  const first = { attempt: 1, stack: "Error: first", at: iso(T + 1_000) };
  const entries = timelineOf({ failed: { first, last: { attempt: 3, stack: "Error: last", at: iso(T + 3_000) } } });
  expect(entries.map(({ kind, at }) => [kind, at])).toEqual([
    ["failed", iso(T + 1_000)],
    ["more_runs", null],
    ["failed", iso(T + 3_000)],
    ["dead", iso(T + 9_000)],
  ]);
  expect(entries[1]?.text).toBe("crm: 1 more run, number 2, of which no error is kept.");
  expect(timelineOf({ failed: { first, last: first } }).map(({ kind }) => kind)).toEqual(["failed", "dead"]);
  expect(timelineOf({})[1]?.text).toBe("crm: 3 more runs, numbers 2 to 4, of which no error is kept.");
});

test("finished steps have their times, before a failure of the same time", () => {
  const failed = {
    first: { attempt: 1, stack: "Error: first", at: iso(T + 2_000) },
    last: { attempt: 2, stack: "Error: last", at: iso(T + 4_000) },
  };
  const pending = { state: "pending", attempts: 2, dueAt: iso(T + 9_000), settledAt: null, reason: null } as const;
  const steps = [
    { name: "ask", at: iso(T + 2_000) },
    { name: "send", at: iso(T + 3_000) },
  ];
  expect(timelineOf({ ...pending, failed, steps }).map(({ kind, at }) => [kind, at])).toEqual([
    ["step_done", iso(T + 2_000)],
    ["failed", iso(T + 2_000)],
    ["step_done", iso(T + 3_000)],
    ["failed", iso(T + 4_000)],
    ["next_run", iso(T + 9_000)],
  ]);
});

describe("contact events", () => {
  const row: ContactEventRow = {
    key: "k",
    state: "pending",
    name: "signed_up",
    contact: "ann",
    recordedAt: iso(T + 9_500),
    occurredAt: iso(T + 9_500),
    settledAt: null,
    attempts: 0,
    dueAt: null,
    error: null,
    reason: null,
    code: null,
    param: null,
    message: null,
    remoteId: null,
    inboxEventId: "evt_1",
    call: null,
    callEvents: null,
  };

  const settled = { settledAt: iso(T + 10_000), attempts: 1 };
  const refusal = {
    reason: "refused",
    code: "contact_not_found",
    param: "email",
    message: "No such contact.",
  } as const;

  test.each<[string, Partial<ContactEventRow>, TimelineEntry["kind"], number | null, string, string | null]>([
    ["waits for its first call", {}, "waits", null, "is not sent yet", null],
    [
      "is tried again",
      { attempts: 2, dueAt: iso(T + 60_000), error: "HTTP 503" },
      "waits",
      60_000,
      "is tried again, after 2 tries",
      "HTTP 503",
    ],
    [
      "was discarded after its tries, which the API has not taken",
      { ...settled, state: "discarded", attempts: 2 },
      "contact_event_settled",
      10_000,
      "was discarded, after 2 tries",
      null,
    ],
    [
      "the API refused",
      { ...settled, ...refusal, state: "dead" },
      "contact_event_settled",
      10_000,
      "is dead (refused)",
      "contact_not_found · email · No such contact.",
    ],
  ])("one that %s has its times and the answer of the API", (_, changes, kind, at, text, detail) => {
    const entries = timelineOf({}, { contactEvents: [{ ...row, ...changes }] });
    const recorded = { kind: "contact_event_recorded", at: iso(T + 9_500), key: "k" };
    const last = { kind, at: at && iso(T + at), text: `The contact event signed_up ${text}.`, detail, key: "k" };
    expect(entries.filter(({ key }) => key === "k")).toMatchObject([recorded, last]);
  });

  test("one that the API took has its id there", () => {
    const taken = { ...row, ...settled, state: "done" as const, attempts: 3, remoteId: "cev_1" };
    expect(timelineOf({}, { contactEvents: [taken] }).at(-1)?.text).toBe(
      "The API took the contact event signed_up as cev_1, after 3 tries.",
    );
  });
});

test.each([
  ["the same", 0],
  ["58 s ahead", 58_000],
])("an attempt stands before what came after it where the service's clock is %s", (_, skew) => {
  const line = (kind: TimelineEntry["kind"], at: number): TimelineEntry => {
    return { kind, at: iso(at), handler: null, attempt: null, text: "", detail: null, key: null };
  };
  const timeline = [line("signed", T), line("received", T + 510), line("failed", T + 600), line("dead", T + 900)];
  const attempts = [line("attempt_delivered", T + skew + 500)];
  const again = line("attempt_delivered", T + skew + 60_000);
  expect(mergeTimelines([...attempts, again], timeline).map(({ kind }) => kind)).toEqual([
    "attempt_delivered",
    "signed",
    "received",
    "failed",
    "dead",
    "attempt_delivered",
  ]);
});
