import { expect, test } from "vitest";
import type { InboxHandler } from "../../src/operator/inbox-rows.js";
import { canRunNow } from "../../src/page/state/work.js";

const piece: InboxHandler = {
  handler: "crm",
  state: "pending",
  dueAt: "2026-01-01T00:00:00.000Z",
  reason: null,
  error: null,
  attempts: 0,
  maxAttempts: null,
  retryRequestedAt: null,
  discarded: false,
  waitsFor: null,
};

test("work that waits for its next run can run now, unless its handler is paused", () => {
  expect(canRunNow(piece, [])).toBe(true);
  expect(canRunNow(piece, [{ handler: "other" }])).toBe(true);
  expect(canRunNow(piece, [{ handler: "crm" }])).toBe(false);
});

test("work that runs, has stopped or waits for a free place cannot", () => {
  expect(canRunNow({ ...piece, dueAt: null }, [])).toBe(false);
  expect(canRunNow({ ...piece, state: "dead" }, [])).toBe(false);
});
