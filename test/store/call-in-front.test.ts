import { isoTime } from "#pigeonhole/base/iso-time.js";
import { findCallInFront, waitsBehind } from "#pigeonhole/store/find-in-inbox.js";
import type { OutboxView } from "#pigeonhole/store/outbox.js";
import { expect, test } from "vitest";
import { outboxView } from "../support/outbox-view.js";

const DUE = 1_000;

const viewOf = (seq: number, changes: Partial<OutboxView>): OutboxView =>
  outboxView({
    seq,
    key: `key_${seq}`,
    state: changes.dueAt === undefined ? "running" : "retrying",
    attempts: 1,
    ...changes,
  });

/** Lists the views as a store does: those of a state, newest first. */
function inboxOf(...views: OutboxView[]) {
  const items = views.toSorted((a, b) => b.seq - a.seq);
  return {
    listContactEvents: (query: { state?: string | undefined } = {}) =>
      Promise.resolve({ items: items.filter(({ state }) => state === query.state), nextCursor: null }),
  };
}

test("of two calls that wait for their next try, the one that was begun first is in front", async () => {
  const first = viewOf(1, { error: "HTTP 503", dueAt: isoTime(DUE + 600_000) });
  const second = viewOf(2, { error: "no such contact", dueAt: isoTime(DUE) });
  const last = viewOf(3, { state: "pending" });
  const inFront = await findCallInFront(inboxOf(first, second, last));
  expect(inFront).toBe(first);
  expect([first, second, last].map((view) => waitsBehind(view, inFront))).toEqual([false, true, true]);
});

test("a call that is being made is in front of those that wait, and keeps nothing back before it has failed", async () => {
  const first = viewOf(1, { error: "HTTP 503", dueAt: isoTime(DUE) });
  const made = viewOf(2, { error: "HTTP 500" });
  const inFront = await findCallInFront(inboxOf(first, made));
  expect(inFront).toBe(made);
  expect([first, made].map((view) => waitsBehind(view, inFront))).toEqual([true, false]);
  expect(await findCallInFront(inboxOf(first, { ...made, error: null }))).toBeUndefined();
});

test("what is done or dead waits for no call", () => {
  const inFront = viewOf(1, { error: "HTTP 503", dueAt: isoTime(DUE) });
  for (const state of ["done", "dead"] as const) expect(waitsBehind(viewOf(2, { state }), inFront)).toBe(false);
});
