import { expect, test } from "vitest";
import type { WorkState } from "#pigeonhole/store/state-words.js";
import { piecesIn } from "#pigeonhole/operator/states.js";

test.each([
  ["pending", "due"],
  ["retrying", "due_again"],
  ["running", "runs, waits_in_process, waits_again_in_process"],
  ["done", "done"],
  ["dead", ""],
  ["", "due, due_again, runs, waits_in_process, waits_again_in_process, done"],
])("a list of %j is about the work that the store has in that state", (state, expected) => {
  const dueAt = "2026-01-31T00:00:00.000Z";
  const work: { handler: string; state: WorkState; dueAt: string | null }[] = [
    { handler: "due", state: "pending", dueAt },
    { handler: "due_again", state: "retrying", dueAt },
    { handler: "runs", state: "running", dueAt: null },
    { handler: "waits_in_process", state: "pending", dueAt: null },
    { handler: "waits_again_in_process", state: "retrying", dueAt: null },
    { handler: "done", state: "done", dueAt: null },
  ];
  expect(
    piecesIn(work, state)
      .map(({ handler }) => handler)
      .join(", "),
  ).toBe(expected);
});
