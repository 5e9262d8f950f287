import { expect, test } from "vitest";
import { eventTimeline } from "#pigeonhole/dashboard/event-timeline.js";
import type { EventDetail, HandlerDetail } from "#pigeonhole/store/inbox-view.js";

const T = 1_800_000_000_000;
const iso = (at: number): string => new Date(at).toISOString();

function timelineOf(work: Partial<HandlerDetail>) {
  const handler: HandlerDetail = {
    handler: "crm",
    state: "dead",
    reason: "attempts_spent",
    error: "Error: no",
    attempts: 5,
    maxAttempts: 5,
    dueAt: undefined,
    settledAt: T + 9_000,
    retryRequestedAt: undefined,
    discarded: false,
    failed: {
      first: { attempt: 1, stack: "Error: first", at: undefined },
      last: { attempt: 5, stack: "Error: last", at: undefined },
    },
    ...work,
  };
  const event: EventDetail = {
    id: "evt_1",
    type: "email.sent",
    test: false,
    receivedAt: T,
    signedAt: T,
    state: handler.state,
    handlers: [handler],
    otherBytes: [],
    seq: 1,
    body: undefined,
  };
  return eventTimeline(event, { contactEvents: [], paused: [], show: (text) => text }).slice(2);
}

test("failed runs have their times, those between stand between, and the next run of pending work follows", () => {
  const failed = {
    first: { attempt: 1, stack: "Error: first", at: T + 1_000 },
    last: { attempt: 4, stack: "Error: last", at: T + 4_000 },
  };
  const pending = { state: "pending", attempts: 4, dueAt: T + 9_000, settledAt: undefined, reason: undefined } as const;
  expect(timelineOf({ ...pending, failed }).map(({ kind, at, attempt }) => [kind, at, attempt])).toEqual([
    ["failed", iso(T + 1_000), 1],
    ["more_runs", null, null],
    ["failed", iso(T + 4_000), 4],
    ["next_run", iso(T + 9_000), 4],
  ]);
});

test("of runs under an older version only the last has a time, that at which it gave up", () => {
  expect(timelineOf({}).map(({ kind, at, attempt }) => [kind, at, attempt])).toEqual([
    ["failed", null, 1],
    ["more_runs", null, null],
    ["failed", iso(T + 9_000), 5],
    ["dead", iso(T + 9_000), 5],
  ]);
  expect(timelineOf({})[1]?.text).toBe("crm: 3 more runs, numbers 2 to 4, of which no error is kept.");
});

test("one run between has its number, and a later run takes the time from the failed one", () => {
  const first = { attempt: 1, stack: "Error: first", at: undefined };
  const entries = timelineOf({ failed: { first, last: { attempt: 3, stack: "Error: last", at: undefined } } });
  expect(entries.map(({ kind, at }) => [kind, at])).toEqual([
    ["failed", null],
    ["more_runs", null],
    ["failed", null],
    ["dead", iso(T + 9_000)],
  ]);
  expect(entries[1]?.text).toBe("crm: 1 more run, number 2, of which no error is kept.");
  expect(timelineOf({ failed: { first, last: first } }).map(({ kind }) => kind)).toEqual(["failed", "dead"]);
});
