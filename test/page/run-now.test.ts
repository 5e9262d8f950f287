import { expect, test } from "vitest";
import { canRunNow } from "../../src/page/state/work.js";
import { handlerView } from "../support/event-detail.js";

const piece = { ...handlerView("crm"), state: "retrying", attempts: 1, dueAt: "2026-01-01T00:00:00.000Z" } as const;

test("work that waits for its next run can run now, unless its handler is paused", () => {
  expect(canRunNow(piece, [])).toBe(true);
  expect(canRunNow(piece, [{ handler: "other" }])).toBe(true);
  expect(canRunNow(piece, [{ handler: "crm" }])).toBe(false);
});

test("work that runs, has stopped or waits for its first run cannot", () => {
  expect(canRunNow({ ...piece, dueAt: null }, [])).toBe(false);
  expect(canRunNow({ ...piece, attempts: 0 }, [])).toBe(false);
});
