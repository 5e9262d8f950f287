import { expect, test } from "vitest";
import { stateOfEvent } from "#pigeonhole/store/state-words.js";

test("the state of an event is the most urgent of its work", () => {
  const urgent = ["parked", "dead", "running", "retrying", "pending", "done", "discarded"] as const;
  const states = urgent.map((state, place) => {
    const work = urgent.slice(place).map((each) => ({ state: each }));
    return [state, stateOfEvent(work.toReversed())];
  });
  expect(states).toEqual(urgent.map((state) => [state, state]));
  expect(stateOfEvent([])).toBe("unhandled");
});
