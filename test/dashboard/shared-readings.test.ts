import { isoTime } from "#pigeonhole/base/iso-time.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { SharedReadings } from "#pigeonhole/web/shared-readings.js";
import type { FiguresWrite } from "#pigeonhole/store/figures.js";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import { NO_FIGURES } from "#pigeonhole/store/figure-rows.js";
import { makeGate, tempFile } from "../support/receiver.js";
import { processStatus } from "../store/conformance/figures.js";
import { context } from "../store/conformance/new-event.js";
import { fileStore } from "./file-store.js";
import { operate, readFigures } from "../support/operate.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** Begin of a step of every length. */
const STEP = 1_800_000_000_000;

/** Readings of a store whose calls take as long as `takes` says; time passes only with them and `wait`. */
async function open({ goesBack = false } = {}) {
  const store = fileStore(tempFile());
  onTestFinished(() => store.close());
  await store.open(context);
  const asked: string[] = [];
  const state = { now: STEP, elapsed: 0, takes: 0, fails: false };
  const wait = (ms: number): void => {
    state.now += ms;
    state.elapsed += ms;
  };
  const call =
    <Args extends unknown[], Value>(name: string, read: (...args: Args) => Promise<Value>) =>
    async (...args: Args): Promise<Value> => {
      asked.push(name);
      const value = await read(...args);
      wait(state.takes);
      if (state.fails) throw new Error("the store fails");
      return value;
    };
  const operator: InboxOperator = {
    ...operate(store),
    overview: call("overview", () => operate(store, state.now).overview()),
    readStatuses: call("statuses", () => operate(store).readStatuses()),
    readFigures: call("figures", (range) => readFigures(store, { range, now: state.now })),
    handlerTimes: call("times", () => operate(store).handlerTimes({})),
    listEvents: call("events", () => Promise.resolve({ items: [], cursors: [], nextCursor: null })),
  };
  const clock = { now: () => state.now, setTimer: () => ({ cancel: () => undefined }) };
  const readings = new SharedReadings(() => operator, goesBack ? clock : { ...clock, elapsed: () => state.elapsed });
  const write = (changes: Partial<FiguresWrite> = {}): Promise<void> => {
    const process = changes.process ?? "p1";
    const figures = { ...NO_FIGURES, answers: { accepted: 1 } };
    return store.writeFigures({ process, now: state.now, figures, status: processStatus({ process }), ...changes });
  };
  /** Accepted deliveries by the begin of their step relative to the first, read together with who else asks. */
  const accepted = async (): Promise<[number, number][]> => {
    const { times, answers } = await readings.readFigures("1h");
    return times.flatMap((time, place): [number, number][] => {
      const count = answers.accepted?.[place] ?? 0;
      return count === 0 ? [] : [[Date.parse(time) - STEP, count]];
    });
  };
  const countAsked = (name: string): number => asked.filter((each) => each === name).length;
  return { store, state, readings, operator, wait, write, accepted, countAsked };
}

describe("counts", () => {
  test("who asks within a second gets the same, and when it was counted", async () => {
    const { readings, wait, countAsked } = await open();
    await Promise.all([readings.count(), readings.overview(), readings.count()]);
    wait(800);
    expect((await readings.count()).at).toBe(STEP);
    expect(countAsked("overview")).toBe(1);
    wait(200);
    expect((await readings.count()).at).toBe(STEP + SECOND);
    expect(countAsked("overview")).toBe(2);
  });

  test("one that took long is made again after fifty times as long", async () => {
    const { readings, state, wait, countAsked } = await open();
    state.takes = 400;
    await readings.count();
    wait(19 * SECOND);
    expect((await readings.count()).at).toBe(STEP);
    wait(SECOND);
    await readings.count();
    expect(countAsked("overview")).toBe(2);
  });

  test("they are made again after an action, and after a clock that was set back", async () => {
    const { readings, state, countAsked } = await open({ goesBack: true });
    await readings.count();
    readings.forgetAll();
    await readings.count();
    expect(countAsked("overview")).toBe(2);
    state.now -= MINUTE;
    expect((await readings.count()).at).toBe(STEP - MINUTE);
  });

  test("nothing is kept of a store that fails", async () => {
    const { readings, state, wait, countAsked } = await open();
    await readings.readStatuses();
    wait(500);
    state.fails = true;
    await expect(readings.count()).rejects.toThrow("the store fails");
    await expect(readings.readStatuses()).rejects.toThrow("the store fails");
    state.fails = false;
    await readings.count();
    expect(countAsked("overview")).toBe(2);
  });
});

describe("lists", () => {
  test("one that is short is read each time, but not twice at once", async () => {
    const { readings, operator, countAsked } = await open();
    await readings.listEvents({ state: "dead" });
    await readings.listEvents({ state: "dead" });
    expect(countAsked("events")).toBe(2);
    const gate = makeGate();
    const listEvents = operator.listEvents.bind(operator);
    operator.listEvents = (query) => gate.passed.then(() => listEvents(query));
    const [one, other, another] = [{ state: "dead" }, { state: "dead" }, { state: "parked" }] as const;
    const together = [readings.listEvents(one), readings.listEvents(other), readings.listEvents(another)];
    gate.open();
    await Promise.all(together);
    expect(countAsked("events")).toBe(4);
  });

  test("one that takes long is read again after five seconds", async () => {
    const { readings, state, wait, countAsked } = await open();
    state.takes = 400;
    await readings.listEvents();
    wait(4 * SECOND);
    await readings.listEvents();
    expect(countAsked("events")).toBe(1);
    wait(SECOND);
    await readings.listEvents();
    expect(countAsked("events")).toBe(2);
  });
});

describe("figures", () => {
  test("they are read again once a process has reported, has joined or has gone", async () => {
    const { wait, write, accepted, countAsked } = await open();
    await write();
    expect(await accepted()).toEqual([[0, 1]]);
    wait(SECOND);
    await accepted();
    expect(countAsked("figures")).toBe(1);
    await write();
    expect(await accepted()).toEqual([[0, 1]]);
    wait(SECOND);
    expect(await accepted()).toEqual([[0, 2]]);
    await write({ process: "p2" });
    wait(SECOND);
    expect(await accepted()).toEqual([[0, 3]]);
    await write({ process: "p2", status: undefined });
    wait(SECOND);
    expect(await accepted()).toEqual([[0, 4]]);
    expect(countAsked("figures")).toBe(4);
  });

  test("a step that begins moves them on", async () => {
    const { readings, wait, write } = await open();
    await write();
    wait(9 * SECOND);
    expect((await readings.readFigures("1h")).times.at(-1)).toBe(isoTime(STEP));
    wait(SECOND);
    expect((await readings.readFigures("1h")).times.at(-1)).toBe(isoTime(STEP + 10 * SECOND));
  });

  test("a clock that is set back has steps of its own", async () => {
    const { readings, state, write } = await open();
    await write();
    await readings.readFigures("1h");
    state.now -= MINUTE;
    expect((await readings.readFigures("1h")).times.at(-1)).toBe(isoTime(STEP - MINUTE));
  });

  test("rows that are joined long after their step show the same sum", async () => {
    const { store, state, wait, write, accepted } = await open();
    await write();
    await write({ process: "p2" });
    expect(await accepted()).toEqual([[0, 2]]);
    wait(5 * MINUTE);
    // The first one in this minute joins the rows of the two, and a late one adds another.
    await write({ process: "p3" });
    await write({ process: "p2", now: STEP });
    expect(await accepted()).toEqual([
      [0, 3],
      [5 * MINUTE, 1],
    ]);
    const { answers } = await readFigures(store, { range: "1h", now: state.now });
    expect(answers.accepted?.reduce((sum: number, count) => sum + (count ?? 0), 0)).toBe(4);
  });

  test("without a report they are read again after ten seconds, and after fifty times as long as they took", async () => {
    const { readings, state, wait, write, countAsked } = await open();
    await write();
    await readings.readFigures("7d");
    wait(10 * SECOND);
    state.takes = 100;
    await readings.readFigures("7d");
    expect(countAsked("figures")).toBe(2);
    state.takes = 0;
    wait(4 * SECOND);
    await write();
    await readings.readFigures("7d");
    expect(countAsked("figures")).toBe(2);
    wait(SECOND);
    await readings.readFigures("7d");
    expect(countAsked("figures")).toBe(3);
  });
});
