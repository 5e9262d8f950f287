import { describe, expect, test } from "vitest";
import { SharedReadings } from "#pigeonhole/web/shared-readings.js";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import { makeGate } from "../support/receiver.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const START = 1_800_000_000_000;

/** Readings of a store whose calls take as long as `takes` says; time passes only with them and `wait`. */
function open({ goesBack = false } = {}) {
  const asked: string[] = [];
  const state = { now: START, elapsed: 0, takes: 0, fails: false, gate: Promise.resolve() };
  const wait = (ms: number): void => {
    state.now += ms;
    state.elapsed += ms;
  };
  const call =
    (name: keyof InboxOperator) =>
    async (...query: unknown[]) => {
      asked.push([name, ...query.map((each) => JSON.stringify(each))].join(" "));
      await state.gate;
      wait(state.takes);
      if (state.fails) throw new Error("the store fails");
      return { items: [] };
    };
  const operator = {
    overview: call("overview"),
    readStatuses: call("readStatuses"),
    readFigures: call("readFigures"),
    handlerTimes: call("handlerTimes"),
    listEvents: call("listEvents"),
  } as unknown as InboxOperator;
  const clock = { now: () => state.now, setTimer: () => ({ cancel: () => undefined }) };
  const readings = new SharedReadings(() => operator, goesBack ? clock : { ...clock, elapsed: () => state.elapsed });
  return { state, readings, wait, asked };
}

describe("counts", () => {
  test("who asks within a second gets the same, and when it was counted", async () => {
    const { readings, wait, asked } = open();
    await Promise.all([readings.count(), readings.overview(), readings.count()]);
    wait(800);
    expect((await readings.count()).at).toBe(START);
    expect(asked).toHaveLength(1);
    wait(200);
    expect((await readings.count()).at).toBe(START + SECOND);
    expect(asked).toHaveLength(2);
  });

  test("one that took long is made again after fifty times as long", async () => {
    const { readings, state, wait, asked } = open();
    state.takes = 400;
    await readings.count();
    wait(19 * SECOND);
    expect((await readings.count()).at).toBe(START);
    wait(SECOND);
    await readings.count();
    expect(asked).toHaveLength(2);
  });

  test("they are made again after an action, and after a clock that was set back", async () => {
    const { readings, state, asked } = open({ goesBack: true });
    await readings.count();
    readings.forgetAll();
    await readings.count();
    expect(asked).toHaveLength(2);
    state.now -= MINUTE;
    expect((await readings.count()).at).toBe(START - MINUTE);
  });

  test("nothing is kept of a store that fails", async () => {
    const { readings, state, wait, asked } = open();
    await readings.readStatuses();
    wait(500);
    state.fails = true;
    await expect(readings.count()).rejects.toThrow("the store fails");
    await expect(readings.readStatuses()).rejects.toThrow("the store fails");
    state.fails = false;
    await readings.count();
    expect(asked.filter((name) => name === "overview")).toHaveLength(2);
  });
});

describe("lists", () => {
  test("one that is short is read each time, but not twice at once", async () => {
    const { readings, state, asked } = open();
    const [one, other] = [{ state: "dead" }, { state: "parked" }] as const;
    await readings.listEvents(one);
    await readings.listEvents(one);
    expect(asked).toHaveLength(2);
    const gate = makeGate();
    state.gate = gate.passed;
    const together = [readings.listEvents(one), readings.listEvents(one), readings.listEvents(other)];
    gate.open();
    await Promise.all(together);
    expect(asked.slice(2)).toEqual(['listEvents {"state":"dead"}', 'listEvents {"state":"parked"}']);
  });

  test("one that takes long is read again after five seconds", async () => {
    const { readings, state, wait, asked } = open();
    state.takes = 400;
    await readings.listEvents();
    wait(4 * SECOND);
    await readings.listEvents();
    expect(asked).toHaveLength(1);
    wait(SECOND);
    await readings.listEvents();
    expect(asked).toHaveLength(2);
  });
});

test("figures of each range are read once a second, or after fifty times as long as they took", async () => {
  const { readings, state, wait, asked } = open();
  for (const range of ["1h", "7d", "1h"] as const) await readings.readFigures(range);
  wait(SECOND);
  await readings.readFigures("1h");
  expect(asked).toEqual(['readFigures "1h"', 'readFigures "7d"', 'readFigures "1h"']);
  state.takes = 400;
  const readAll = () => Promise.all([readings.readFigures("7d"), readings.handlerTimes()]);
  await readAll();
  wait(19 * SECOND);
  await readAll();
  expect(asked.slice(3)).toEqual(['readFigures "7d"', "handlerTimes"]);
});
