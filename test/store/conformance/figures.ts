import { isoTime } from "#pigeonhole/base/iso-time.js";
import type { Figures, FiguresWrite, ProcessStatus } from "#pigeonhole/store/figures.js";
import { isAlive, isEnded, failuresInARow } from "#pigeonhole/store/process-state.js";
import { NO_FIGURES } from "#pigeonhole/store/figure-rows.js";
import { expect, test } from "vitest";
import { DAY, MINUTE, context } from "./new-event.js";
import { type Fixture } from "./fixture.js";
import { operate, readFigures } from "../../support/operate.js";

/** Begin of a step of every length. */
const STEP = 1_800_000_000_000;
const SECOND = 1_000;

export const processStatus = (changes: Partial<ProcessStatus> = {}): ProcessStatus => ({
  process: "p1",
  host: "machine",
  pid: 7,
  state: "running",
  role: "all",
  startedAt: STEP,
  failuresInARow: 0,
  failureTimes: [],
  lastSuccessAt: undefined,
  lastAcceptedAt: undefined,
  silenceAfterMs: undefined,
  waiting: 0,
  runningCount: 0,
  running: [],
  waitsFor: {},
  ...changes,
});

const accepted = (count: number): Figures => ({ ...NO_FIGURES, answers: { accepted: count } });

const write = (changes: Partial<FiguresWrite> = {}): FiguresWrite => {
  const process = changes.process ?? "p1";
  return { process, now: STEP, figures: accepted(1), status: processStatus({ process }), ...changes };
};

export function describeFigures(fixture: Fixture): void {
  /** Deliveries that were accepted, by the begin of their step relative to {@link STEP}. */
  const acceptedIn = async (range: "1h" | "24h" | "7d", now: number): Promise<[number, number][]> => {
    const { times, answers } = await readFigures(fixture.store, { range, now });
    const counts = answers.accepted ?? [];
    return times.flatMap((time, place): [number, number][] => {
      const count = counts[place] ?? 0;
      return count === 0 ? [] : [[Date.parse(time) - STEP, count]];
    });
  };

  test("a store that nobody has written to knows nothing of any step", async () => {
    for (const [range, steps] of [
      ["1h", 360],
      ["24h", 144],
      ["7d", 336],
    ] as const) {
      const series = await readFigures(fixture.store, { range, now: STEP });
      expect(series.times).toHaveLength(steps);
      expect(series.times.at(-1)).toBe(isoTime(STEP));
      expect(series).toMatchObject({ answers: {}, handlers: [] });
      expect(new Set([...series.backlog.depth, ...series.latency.p95FromMs])).toEqual(new Set([null]));
    }
    expect(await operate(fixture.store).readStatuses()).toEqual([]);
  });

  test("what is written is added to the step of each length", async () => {
    const { store } = fixture;
    for (const at of [0, 9, 10, 299, 300, 1_800]) await store.writeFigures(write({ now: STEP + at * SECOND }));
    const now = STEP + 1_800 * SECOND;
    expect(await acceptedIn("1h", now)).toEqual([
      [0, 2],
      [10 * SECOND, 1],
      [290 * SECOND, 1],
      [300 * SECOND, 1],
      [1_800 * SECOND, 1],
    ]);
    expect(await acceptedIn("24h", now)).toEqual([
      [0, 5],
      [1_800 * SECOND, 1],
    ]);
    expect(await acceptedIn("7d", now)).toEqual([
      [0, 5],
      [1_800 * SECOND, 1],
    ]);
  });

  test("everything that was written is read", async () => {
    const figures: Figures = {
      answers: { accepted: 3, duplicate: 1 },
      answerTimes: [1, 4],
      runs: new Map([
        ["h", { done: [3, 9], failed: [4, 1] }],
        ["'; \u0000 --__proto__", { done: [0, 1], failed: [] }],
        ["__proto__", { done: [0, 2], failed: [] }],
      ]),
      gauges: {
        backlog: { depth: 5, oldestAgeMs: 700 },
        outbox: { depth: 2, oldestAgeMs: 80 },
        disk: { usedBytes: 10_000, freeBytes: undefined },
      },
    };
    await fixture.store.writeFigures(write({ figures }));
    const series = await readFigures(fixture.store, { range: "24h", now: STEP });
    const last = <Value>(values: readonly Value[] = []): Value | undefined => values.at(-1);
    expect([last(series.answers.accepted), last(series.answers.duplicate)]).toEqual([3, 1]);
    expect(last(series.latency.medianFromMs)).toBe(1);
    expect(last(series.handlers.find(({ handler }) => handler === "h")?.failed)).toBe(1);
    expect(series.handlers.map(({ handler, runs }) => [handler, last(runs)])).toEqual([
      ["'; \u0000 --__proto__", 1],
      ["__proto__", 2],
      ["h", 10],
    ]);
    expect([last(series.backlog.depth), last(series.backlog.oldestAgeMs)]).toEqual([5, 700]);
    expect([last(series.outbox.depth), last(series.outbox.oldestAgeMs)]).toEqual([2, 80]);
    expect([last(series.disk.usedBytes), last(series.disk.freeBytes)]).toEqual([10_000, null]);
  });

  test("processes add up, also once their steps are closed", async () => {
    const { store } = fixture;
    for (const process of ["p1", "p2", "p3"]) await store.writeFigures(write({ process }));
    expect(await acceptedIn("1h", STEP)).toEqual([[0, 3]]);
    for (const at of [400, 800, 1_200]) await store.writeFigures(write({ now: STEP + at * SECOND }));
    expect(await acceptedIn("1h", STEP + 1_200 * SECOND)).toContainEqual([0, 3]);
    expect(await acceptedIn("24h", STEP + 1_200 * SECOND)).toContainEqual([0, 4]);
    // A process that was late.
    await store.writeFigures(write({ process: "p4" }));
    expect(await acceptedIn("1h", STEP + 1_200 * SECOND)).toContainEqual([0, 4]);
  });

  test("each range is kept for its length, and older steps go as others come", async () => {
    const { store } = fixture;
    await store.writeFigures(write());
    for (let at = 1; at <= 3; at += 1) await store.writeFigures(write({ now: STEP + 2 * 60 * MINUTE + at }));
    expect(await acceptedIn("1h", STEP + 10 * SECOND)).toEqual([]);
    await store.writeFigures(write({ now: STEP + 8 * DAY }));
    expect(await acceptedIn("24h", STEP + 10 * SECOND)).toEqual([[0, 1]]);
    await store.writeFigures(write({ now: STEP + 8 * DAY + 10 * MINUTE }));
    expect(await acceptedIn("24h", STEP + 10 * SECOND)).toEqual([]);
  });

  test("what a clock wrote that was a year ahead goes once it is right again", async () => {
    const { store } = fixture;
    await store.writeFigures(write({ now: STEP + 365 * DAY }));
    await store.writeFigures(write());
    expect(await acceptedIn("7d", STEP + 365 * DAY)).toEqual([]);
    expect((await operate(store).readStatuses()).map(({ reportedAt }) => reportedAt)).toEqual([STEP]);
  });

  test("a process has the status that it said last, until it stops or has been silent for an hour", async () => {
    const { store } = fixture;
    const running = [{ handler: "h", eventId: "evt_1", since: STEP }];
    const answers = { failuresInARow: 2, failureTimes: [STEP, STEP + 1], lastSuccessAt: STEP, lastAcceptedAt: STEP };
    await store.writeFigures(write({ process: "p1" }));
    await store.writeFigures(
      write({
        now: STEP + 1,
        status: processStatus({ state: "stopping", running, runningCount: 1, ...answers, silenceAfterMs: 5 }),
      }),
    );
    await store.writeFigures(write({ process: "p2", now: STEP + 2 }));
    expect(await operate(store).readStatuses()).toEqual([
      { ...processStatus({ process: "p2" }), reportedAt: STEP + 2 },
      {
        ...processStatus({ state: "stopping", running, runningCount: 1, ...answers, silenceAfterMs: 5 }),
        reportedAt: STEP + 1,
      },
    ]);
    await store.writeFigures(write({ process: "p2", now: STEP + 3, status: undefined }));
    expect((await operate(store).readStatuses()).map(({ process }) => process)).toEqual(["p1"]);
    await store.writeFigures(write({ process: "p3", now: STEP + 60 * MINUTE + 2 }));
    expect((await operate(store).readStatuses()).map(({ process }) => process)).toEqual(["p3"]);
  });

  test("processes that have stopped are one status, which counts their answers for as long as it takes", async () => {
    const { store } = fixture;
    const stop = (process: string, now: number, changes: Partial<ProcessStatus>): Promise<void> =>
      store.writeFigures(
        write({ process, now, status: undefined, last: processStatus({ process, state: "stopping", ...changes }) }),
      );
    const failed = (...failureTimes: number[]) => ({ failureTimes, failuresInARow: failureTimes.length });
    await store.writeFigures(write({ process: "p1", now: STEP + 4, status: processStatus({ ...failed(STEP + 1) }) }));
    await stop("p1", STEP + 5, { ...failed(STEP + 1, STEP + 4), runningCount: 1 });
    await stop("p2", STEP + 9, { ...failed(STEP + 3, STEP + 8), lastSuccessAt: STEP + 2, lastAcceptedAt: STEP });
    const statuses = await operate(store).readStatuses();
    expect(statuses).toMatchObject([
      {
        ...failed(STEP + 3, STEP + 4, STEP + 8),
        lastSuccessAt: STEP + 2,
        lastAcceptedAt: STEP,
        state: "stopped",
        runningCount: 0,
      },
    ]);
    expect(statuses.map((status) => [isEnded(status), isAlive(status, STEP + 9)])).toEqual([[true, false]]);
    await store.writeFigures(write({ process: "p3", now: STEP + 2 * DAY }));
    expect(failuresInARow(await operate(store).readStatuses())).toBe(3);
    // What a clock said that was ahead makes no later failure look older.
    await stop("p4", STEP + 2 * DAY, { lastSuccessAt: STEP + 9 * DAY });
    await stop("p5", STEP + 3 * DAY, { ...failed(STEP + 3 * DAY - 1) });
    expect(failuresInARow(await operate(store).readStatuses())).toBe(1);
  });

  test("of failures before a stop all count, and a hundred times of them are kept", async () => {
    const { store } = fixture;
    const failureTimes = Array.from({ length: 100 }, (_, at) => STEP + at);
    const stop = (status: Partial<ProcessStatus>): Promise<void> =>
      store.writeFigures(write({ now: STEP + 200, status: undefined, last: processStatus(status) }));
    await stop({ failuresInARow: 130, failureTimes });
    await stop({ failuresInARow: 2, failureTimes: [STEP + 150, STEP + 151] });
    const [status] = await operate(store).readStatuses();
    expect(status).toMatchObject({ failuresInARow: 132 });
    expect(status?.failureTimes).toHaveLength(100);
    expect(status?.failureTimes.slice(-2)).toEqual([STEP + 150, STEP + 151]);
  });

  test("of processes that stop at once, each counts", async ({ skip }) => {
    skip(!fixture.kind.isShared, "one store at a time");
    const second = fixture.another();
    await second.open(context);
    const stop = (store: typeof second, process: string): Promise<void> => {
      const last = processStatus({ process, failuresInARow: 1, failureTimes: [STEP] });
      return store.writeFigures(write({ process, status: undefined, last }));
    };
    for (const before of [0, 12]) {
      const stops = Array.from({ length: 12 }, (_, n) => stop(n % 2 ? second : fixture.store, `p${before + n}`));
      await Promise.all(stops);
      expect(failuresInARow(await operate(fixture.store).readStatuses())).toBe(before + 12);
    }
  });

  test("what two stores on the same data write at once is counted once", async ({ skip }) => {
    skip(!fixture.kind.isShared, "one store at a time");
    const second = fixture.another();
    await second.open(context);
    const each = async (store: typeof second, process: string, from: number): Promise<void> => {
      for (let at = 0; at < 60; at += 1)
        await store.writeFigures(write({ process, now: STEP + from * MINUTE + at * 20 * SECOND }));
    };
    await Promise.all([each(fixture.store, "p1", 10), each(second, "p2", 0)]);
    const counts = await acceptedIn("24h", STEP + 30 * MINUTE);
    expect(counts.map(([, count]) => count)).toEqual([30, 60, 30]);
  });
}
