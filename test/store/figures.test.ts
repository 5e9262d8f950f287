import { describe, expect, test } from "vitest";
import { toFigureSeries } from "#pigeonhole/store/figure-series.js";
import type { Figures, FiguresQuery, RunFigures } from "#pigeonhole/store/figures.js";
import { MAX_STORED_BYTES, fromStoredFigures, toStoredFigures } from "#pigeonhole/store/stored-figures.js";
import { NO_FIGURES, sumFigures } from "#pigeonhole/store/sum-figures.js";
import { failuresInARow } from "#pigeonhole/store/failures-in-a-row.js";
import { fromStoredStatus } from "#pigeonhole/store/figure-rows.js";

const SECOND = 1_000;
/** Begin of a step of every length. */
const STEP = 1_800_000_000_000;

const gauges = (depth: number, freeBytes?: number): NonNullable<Figures["gauges"]> => ({
  backlog: { depth, oldestAgeMs: 10 * depth },
  outbox: { depth: 0, oldestAgeMs: 0 },
  disk: { usedBytes: undefined, freeBytes },
});

/** The series of rows at these seconds, and what it has there. */
function seriesAt(rows: Record<number, Partial<Figures>>, query: Partial<FiguresQuery> & { seconds: number }) {
  const { seconds, range = "1h" } = query;
  const series = toFigureSeries(
    Object.entries(rows).map(([at, figures]) => ({
      step: STEP + Number(at) * SECOND,
      figures: { ...NO_FIGURES, ...figures },
    })),
    { range, now: STEP + seconds * SECOND },
  );
  const at = (second: number): number => series.times.indexOf(STEP + second * SECOND);
  return { series, at };
}

describe("sums of figures", () => {
  test("counts are added, and of gauges the worst is kept", () => {
    const one: Figures = {
      answers: { accepted: 1, duplicate: 2 },
      answerTimes: [1, 1],
      runs: new Map([["a", { done: 1, failed: 2, times: [3] }]]),
      otherRuns: undefined,
      gauges: gauges(3, 100),
    };
    const other: Figures = {
      answers: { accepted: 1, parked: 5 },
      answerTimes: [0, 0, 7],
      runs: new Map([
        ["a", { done: 1, failed: 0, times: [0, 1] }],
        ["b", { done: 1, failed: 0, times: [1] }],
      ]),
      otherRuns: { done: 1, failed: 1, times: [2] },
      gauges: gauges(2, 90),
    };
    const sum: Figures = {
      answers: { accepted: 2, duplicate: 2, parked: 5 },
      answerTimes: [1, 1, 7],
      runs: new Map([
        ["a", { done: 2, failed: 2, times: [3, 1] }],
        ["b", { done: 1, failed: 0, times: [1] }],
      ]),
      otherRuns: { done: 1, failed: 1, times: [2] },
      gauges: gauges(3, 90),
    };
    expect(sumFigures(one, other)).toEqual(sum);
    expect(sumFigures(other, one)).toEqual(sum);
    expect(sumFigures(NO_FIGURES, one)).toEqual(one);
  });
});

describe("the text of figures", () => {
  const manyRuns = (handlers: number): Figures["runs"] =>
    new Map(
      Array.from({ length: handlers }, (_, place) => [
        `handler-number-${place}`,
        { done: place + 1, failed: 0, times: [0, 0, place, 1] },
      ]),
    );

  test("reads as it was written", () => {
    const figures: Figures = {
      answers: { accepted: 12, unverified: 1 },
      answerTimes: [0, 0, 12, 0, 1],
      runs: manyRuns(4),
      otherRuns: { done: 1, failed: 0, times: [0, 1] },
      gauges: gauges(7, 10),
    };
    expect(fromStoredFigures(toStoredFigures(figures))).toEqual(figures);
    expect(fromStoredFigures(toStoredFigures(NO_FIGURES))).toEqual(NO_FIGURES);
  });

  test.each([10, 20, 500])("stays short with %i handlers: the busiest are kept, the others together", (handlers) => {
    const text = toStoredFigures({ ...NO_FIGURES, answers: { accepted: 1 }, runs: manyRuns(handlers) });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_STORED_BYTES);
    const { runs, otherRuns } = fromStoredFigures(text) ?? expect.unreachable();
    expect([...runs.keys()]).toEqual(
      Array.from({ length: runs.size }, (_, place) => `handler-number-${handlers - 1 - place}`),
    );
    const all = [...runs.values(), ...(otherRuns === undefined ? [] : [otherRuns])];
    expect(all.reduce((sum, { done, failed }) => sum + done + failed, 0)).toBe((handlers * (handlers + 1)) / 2);
  });

  test("a rare handler whose runs all fail is kept among many busy ones that fail at times", () => {
    const busy = Array.from({ length: 40 }, (_, place): [string, RunFigures] => [
      `busy-handler-${place}`,
      { done: 400, failed: place === 7 ? 3 : 30, times: [0, 0, 400] },
    ]);
    const failing: [string, RunFigures] = ["failing", { done: 0, failed: 20, times: [20] }];
    const { runs } =
      fromStoredFigures(toStoredFigures({ ...NO_FIGURES, runs: new Map([...busy, failing]) })) ?? NO_FIGURES;
    expect(runs.size).toBeLessThan(41);
    expect([...runs].at(0)).toEqual(failing);
  });

  test("a handler that fails is kept before the busier ones that do not", () => {
    const busy = Array.from({ length: 20 }, (_, place): [string, RunFigures] => [
      `busy-handler-${place}`,
      { done: 400, failed: 0, times: [0, 0, 400] },
    ]);
    const failing: [string, RunFigures] = ["failing", { done: 5, failed: 2, times: [7] }];
    const { runs } =
      fromStoredFigures(toStoredFigures({ ...NO_FIGURES, runs: new Map([...busy, failing]) })) ?? NO_FIGURES;
    expect(runs.has("failing")).toBe(true);
  });

  test("a name that has no room is counted with the others", () => {
    const runs: Figures["runs"] = new Map([["é".repeat(1_000), { done: 3, failed: 0, times: [3] }]]);
    expect(fromStoredFigures(toStoredFigures({ ...NO_FIGURES, runs }))).toMatchObject({
      runs: new Map(),
      otherRuns: { done: 3 },
    });
  });
});

describe("series of figures", () => {
  test("steps before the first word of a process are not known, and those after it are", () => {
    const { series, at } = seriesAt({ 0: { answers: { accepted: 4 }, gauges: gauges(2) } }, { seconds: 60 });
    const { accepted = [] } = series.answers;
    expect([-10, 0, 10, 40].map((second) => accepted[at(second)])).toEqual([null, 4, 0, 0]);
    expect([-10, 0, 10].map((second) => series.backlog.depth[at(second)])).toEqual([null, 2, 2]);
  });

  test("steps that may still be written to, and those after a process has gone, are not known", () => {
    const { series, at } = seriesAt({ 0: { answers: { accepted: 4 } } }, { seconds: 200 });
    const { accepted = [] } = series.answers;
    expect([0, 70, 80, 190, 200].map((second) => accepted[at(second)])).toEqual([4, 0, null, null, null]);
    const soon = seriesAt({ 0: { answers: { accepted: 4 } } }, { seconds: 25 });
    expect([0, 10, 20].map((second) => soon.series.answers.accepted?.[soon.at(second)])).toEqual([4, null, null]);
  });

  test("rows of several processes in a step are one value", () => {
    const row = (figures: Partial<Figures>) => ({ step: STEP, figures: { ...NO_FIGURES, ...figures } });
    const series = toFigureSeries(
      [
        row({ answers: { accepted: 1 }, gauges: gauges(4) }),
        row({ answers: { accepted: 2, parked: 1 }, gauges: gauges(5) }),
      ],
      { range: "7d", now: STEP },
    );
    expect([series.answers.accepted?.at(-1), series.answers.parked?.at(-1), series.backlog.depth.at(-1)]).toEqual([
      3, 1, 5,
    ]);
  });

  test.each<[what: string, counts: number[], medianFromMs: number | null, p95FromMs: number | null]>([
    ["nothing", [], null, null],
    ["one time", [0, 0, 0, 1], 5, 5],
    ["times in one bucket", [0, 0, 0, 100], 5, 5],
    ["a half below a half", [0, 10, 0, 0, 10], 1, 10],
    ["a few above the others", [96, 0, 0, 4], 0, 0],
    ["times in the last bucket", [...Array.from({ length: 17 }, () => 0), 3], 300_000, 300_000],
  ])("median and p95 of %s are the buckets that they are in", (_, counts, medianFromMs, p95FromMs) => {
    const { series } = seriesAt({ 0: { answerTimes: counts } }, { seconds: 0 });
    expect([series.latency.medianFromMs.at(-1), series.latency.p95FromMs.at(-1)]).toEqual([medianFromMs, p95FromMs]);
  });

  test("a handler that did not run in a known step has no runs and no times there", () => {
    const runs: Figures["runs"] = new Map([["h", { done: 3, failed: 1, times: [4] }]]);
    const { series, at } = seriesAt({ 0: { runs }, 10: {} }, { seconds: 10 });
    const [handler] = series.handlers;
    expect([-10, 0, 10].map((second) => handler?.runs[at(second)])).toEqual([null, 4, 0]);
    expect([-10, 0, 10].map((second) => handler?.failed[at(second)])).toEqual([null, 1, 0]);
    expect([-10, 0, 10].map((second) => handler?.medianFromMs[at(second)])).toEqual([null, 0, null]);
  });

  test("runs of handlers without a place are a series of their own", () => {
    const otherRuns = { done: 3, failed: 1, times: [4] };
    const { series, at } = seriesAt({ 0: { otherRuns }, 10: {} }, { seconds: 10 });
    expect(series.handlers).toEqual([]);
    expect([-10, 0, 10].map((second) => series.otherHandlers?.runs[at(second)])).toEqual([null, 4, 0]);
    expect([-10, 0, 10].map((second) => series.otherHandlers?.failed[at(second)])).toEqual([null, 1, 0]);
    expect([-10, 0, 10].map((second) => series.otherHandlers?.p95FromMs[at(second)])).toEqual([null, 0, null]);
    expect(seriesAt({ 0: {} }, { seconds: 10 }).series.otherHandlers).toBeNull();
  });
});

test("a status of a version that kept no times of failures is read", () => {
  const status = JSON.stringify({ process: "old", failuresInARow: 3, running: [] });
  const read = fromStoredStatus({ at: 5, status });
  expect(read).toMatchObject({ failureTimes: [], reportedAt: 5 });
  expect(failuresInARow([read])).toBe(3);
});
