import { describe, expect, test } from "vitest";
import { toFigureSeries } from "#pigeonhole/store/figure-series.js";
import type { Figures, FiguresQuery, RunFigures } from "#pigeonhole/store/figures.js";
import { MAX_STORED_BYTES, fromStoredFigures, toStoredFigures } from "#pigeonhole/store/stored-figures.js";
import { NO_FIGURES, sumFigures } from "#pigeonhole/store/sum-figures.js";
import { addToRow, joinRows } from "#pigeonhole/store/figure-rows.js";

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

  test.each([10, 20, 500])("stays short with %i handlers: the first ones are kept, the others together", (handlers) => {
    const text = toStoredFigures({ ...NO_FIGURES, answers: { accepted: 1 }, runs: manyRuns(handlers) });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_STORED_BYTES);
    const { runs, otherRuns } = fromStoredFigures(text) ?? expect.unreachable();
    expect([...runs.keys()]).toEqual(Array.from({ length: runs.size }, (_, place) => `handler-number-${place}`));
    const all = [...runs.values(), ...(otherRuns === undefined ? [] : [otherRuns])];
    expect(all.reduce((sum, { done, failed }) => sum + done + failed, 0)).toBe((handlers * (handlers + 1)) / 2);
  });

  test("which handlers are kept follows from their names, not from how their runs ended", () => {
    const keptOf = (failed: (place: number) => number): string[] => {
      const runs = [...manyRuns(40)].map(([handler], place): [string, RunFigures] => [
        handler,
        { done: 50 - failed(place), failed: failed(place), times: [50] },
      ]);
      return [
        ...(fromStoredFigures(toStoredFigures({ ...NO_FIGURES, runs: new Map(runs) })) ?? NO_FIGURES).runs.keys(),
      ];
    };
    expect(keptOf((place) => 10 + (place % 30))).toEqual(keptOf((place) => 39 - (place % 30)));
  });

  test("a name that has no room is counted with the others", () => {
    const runs: Figures["runs"] = new Map([["é".repeat(1_000), { done: 3, failed: 0, times: [3] }]]);
    expect(fromStoredFigures(toStoredFigures({ ...NO_FIGURES, runs }))).toMatchObject({
      runs: new Map(),
      otherRuns: { done: 3 },
    });
  });
});

describe("handlers that have no room in a step", () => {
  const names = Array.from(
    { length: 17 },
    (_, place) => `handler-with-a-long-name-${String(place + 1).padStart(3, "0")}`,
  );
  const each = (runs: RunFigures): Figures => ({ ...NO_FIGURES, runs: new Map(names.map((name) => [name, runs])) });
  /** A row after writes of one process. */
  const rowOf = (writes: readonly Figures[]): string => {
    let row: string | undefined;
    for (const figures of writes) row = addToRow(row, figures);
    return row ?? "";
  };
  /** The rows of one step as a series, and its values there. */
  const readRows = (rows: readonly string[]) => {
    const { handlers, otherHandlers } = toFigureSeries(
      rows.map((row) => ({ step: STEP, figures: fromStoredFigures(row) })),
      { range: "1h", now: STEP },
    );
    const counts = handlers.map(({ runs, failed }) => [runs.at(-1), failed.at(-1)]);
    return { counts, others: [otherHandlers?.runs.at(-1), otherHandlers?.failed.at(-1)], handlers };
  };

  test("are not known there: no part of their runs is shown as all of them", () => {
    // A hundred runs of each, of which every second one failed.
    const writes = Array.from({ length: 100 }, (_, run) =>
      each({ done: run % 2, failed: 1 - (run % 2), times: [0, 0, 1] }),
    );
    const { counts, others } = readRows([rowOf(writes)]);
    expect(counts.length).toBeGreaterThan(6);
    expect(new Set(counts.map(String))).toEqual(new Set(["100,50"]));
    expect(others).toEqual([(17 - counts.length) * 100, (17 - counts.length) * 50]);
  });

  test("are not known in the sum of processes of which one had room for them", () => {
    const last = names.at(-1) ?? "";
    const alone = rowOf([{ ...NO_FIGURES, runs: new Map([[last, { done: 1, failed: 0, times: [1] }]]) }]);
    const full = rowOf([each({ done: 100, failed: 0, times: [100] })]);
    for (const rows of [
      [alone, full],
      [full, alone],
    ]) {
      const { counts, others, handlers } = readRows(rows);
      expect(handlers.map(({ handler }) => handler)).not.toContain(last);
      expect(new Set(counts.map(String))).toEqual(new Set(["100,0"]));
      expect(others).toEqual([(17 - counts.length) * 100 + 1, 0]);
    }
    const joined = joinRows([alone, full].map((figures) => ({ resolution: 10_000, step: STEP, figures })));
    expect(readRows(joined.map(({ figures }) => figures))).toEqual(readRows([alone, full]));
  });

  test("are a gap beside steps in which they are known, and those before them have no runs there", () => {
    const run: RunFigures = { done: 1, failed: 0, times: [1] };
    const [last = "", first] = [names.at(-1), "rare"];
    const full = fromStoredFigures(rowOf([each(run)])) ?? expect.unreachable();
    const { series, at } = seriesAt(
      {
        0: {
          runs: new Map([
            [last, run],
            [first, run],
          ]),
        },
        10: full,
        20: {},
      },
      { seconds: 20 },
    );
    const runsOf = (name: string) => {
      const { runs = [], medianFromMs = [] } = series.handlers.find(({ handler }) => handler === name) ?? {};
      return [0, 10, 20].map((second) => [runs[at(second)], medianFromMs[at(second)]]);
    };
    expect(runsOf(last)).toEqual([
      [1, 0],
      [null, null],
      [0, null],
    ]);
    expect(runsOf(first)).toEqual([
      [1, 0],
      [0, null],
      [0, null],
    ]);
  });

  test("leave the place to one whose name comes first, also when it runs later", () => {
    const first: Figures = { ...NO_FIGURES, runs: new Map([["rare", { done: 3, failed: 0, times: [3] }]]) };
    const { counts, others } = readRows([rowOf([each({ done: 9, failed: 0, times: [9] }), first])]);
    expect(counts.slice(0, -1).map(String)).toEqual(Array.from({ length: counts.length - 1 }, () => "9,0"));
    expect(counts.at(-1)).toEqual([3, 0]);
    expect(others).toEqual([(18 - counts.length) * 9, 0]);
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
