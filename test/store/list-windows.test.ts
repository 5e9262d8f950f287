import { expect, test } from "vitest";
import { cursorsOf, listWindows } from "#pigeonhole/store/list-windows.js";
import type { PatientEventQuery } from "#pigeonhole/store/list-windows.js";

const windowsOf = (query: PatientEventQuery, before = Number.MAX_SAFE_INTEGER) => [
  ...listWindows(query, { before, newest: 45_000 }),
];

test.each<PatientEventQuery>([
  { patienceMs: 1_000 },
  { handler: "h" },
  { patienceMs: 1_000, state: "dead", handler: "h" },
  { patienceMs: 1_000, error: "text", type: "email.sent" },
  { patienceMs: 1_000, ids: ["a"], state: "done" },
])("the list of %j is found by an index, or looked for until its page is full", (query) => {
  expect(windowsOf(query, 99)).toEqual([{ before: 99, floor: 0 }]);
});

test.each<PatientEventQuery>([
  { handler: "h" },
  { state: "done" },
  { state: "unhandled" },
  { state: "discarded", error: "superseded" },
  { type: "email.sent" },
  { since: 1 },
  { until: 1 },
])("all events are looked through for %j, a window after the other", (query) => {
  expect(windowsOf({ ...query, patienceMs: 1_000 })).toEqual([
    { before: 45_001, floor: 25_001 },
    { before: 25_001, floor: 5_001 },
    { before: 5_001, floor: 0 },
  ]);
  expect(windowsOf({ ...query, patienceMs: 1_000 }, 5_001)).toEqual([{ before: 5_001, floor: 0 }]);
});

test("a list ends when its patience is over, and goes on from there", () => {
  const windows = listWindows({ type: "email.sent", patienceMs: 1 }, { before: 45_001, newest: 45_000 });
  expect(windows.next().value).toEqual({ before: 45_001, floor: 25_001 });
  const begin = performance.now();
  while (performance.now() - begin < 2);
  expect(windows.next().done).toBe(true);
  expect(cursorsOf([{ seq: 30_000 }], 50, 25_001)).toEqual({ cursors: ["30000"], nextCursor: "25001" });
  expect(cursorsOf([{ seq: 30_000 }, { seq: 29_000 }], 1, 25_001)).toEqual({ cursors: ["30000"], nextCursor: "30000" });
  expect(cursorsOf([], 1, 0)).toEqual({ cursors: [], nextCursor: null });
});
