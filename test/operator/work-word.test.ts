import { expect, test } from "vitest";
import { wordOfWork } from "#pigeonhole/operator/work-word.js";

const done = { state: "done", attempts: 1 };
const discarded = { state: "done", attempts: 1, discarded: true };
const retrying = { state: "pending", attempts: 1, error: "Error: no answer" };
const retried = { state: "pending", attempts: 0, error: "Error: no answer" };
const waiting = { state: "pending", attempts: 0 };
const leased = { state: "leased", attempts: 1 };
const dead = { state: "dead", attempts: 1 };
const parked = { state: "parked", attempts: 0 };
const readAgain = { ...parked, retryRequestedAt: "2026-01-31T00:00:00.000Z" };

test.each([
  ["no handler", []],
  ["done", [done, done]],
  ["discarded", [discarded]],
  ["done and discarded", [done, discarded]],
  ["waiting", [done, waiting]],
  ["retrying", [waiting, retrying, discarded]],
  ["retry requested", [retrying, retried]],
  ["retry requested", [done, readAgain]],
  ["running", [retrying, leased]],
  ["dead", [leased, dead]],
  ["parked", [parked, dead]],
])("an event is %s with the work %j", (word, handlers) => {
  expect(wordOfWork({ handlers })).toBe(word);
});
