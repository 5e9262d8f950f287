import { isoTime } from "#pigeonhole/base/iso-time.js";
import { describe, expect, test } from "vitest";
import { toFigureSeries } from "#pigeonhole/store/figure-series.js";
import type { Figures, FiguresQuery } from "#pigeonhole/store/figures.js";
import { NO_FIGURES, addToRow, readRow, sumFigures } from "#pigeonhole/store/figure-rows.js";
import { bucketOf } from "#pigeonhole/store/time-buckets.js";

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
      figures: addToRow(undefined, { ...NO_FIGURES, ...figures }),
    })),
    { range, now: STEP + seconds * SECOND },
  );
  const at = (second: number): number => series.times.indexOf(isoTime(STEP + second * SECOND));
  return { series, at };
}

describe("sums of figures", () => {
  test("counts are added, and of gauges the worst is kept", () => {
    const one: Figures = {
      answers: { accepted: 1, duplicate: 2 },
      answerTimes: [0, 1, 1, 1],
      runs: new Map([["a", { done: [0, 1], failed: [0, 2] }]]),
      gauges: gauges(3, 100),
    };
    const other: Figures = {
      answers: { accepted: 1, parked: 5 },
      answerTimes: [2, 7],
      runs: new Map([
        ["a", { done: [1, 1], failed: [] }],
        ["b", { done: [0, 1], failed: [] }],
      ]),
      gauges: gauges(2, 90),
    };
    const sum: Figures = {
      answers: { accepted: 2, duplicate: 2, parked: 5 },
      answerTimes: [0, 1, 1, 1, 2, 7],
      runs: new Map([
        ["a", { done: [0, 1, 1, 1], failed: [0, 2] }],
        ["b", { done: [0, 1], failed: [] }],
      ]),
      gauges: gauges(3, 90),
    };
    expect(sumFigures(one, other)).toEqual(sum);
    expect(sumFigures(other, one)).toEqual(sum);
    expect(sumFigures(NO_FIGURES, one)).toEqual(one);
    expect(readRow(addToRow(addToRow(undefined, one), other))).toEqual(sum);
  });

  test("a row that cannot be read is left out, and replaced by what is added to it", () => {
    for (const text of ["", "[", "1", "null", "{}"]) {
      expect(readRow(text)).toBeUndefined();
      expect(readRow(addToRow(text, NO_FIGURES))).toEqual(NO_FIGURES);
    }
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

  test("short steps that are in a longer one are one value", () => {
    const row = (step: number, figures: Partial<Figures>) => ({
      step,
      figures: addToRow(undefined, { ...NO_FIGURES, ...figures }),
    });
    const series = toFigureSeries(
      [
        row(STEP, { answers: { accepted: 1 }, gauges: gauges(4) }),
        row(STEP + 600 * SECOND, { answers: { accepted: 2, parked: 1 }, gauges: gauges(5) }),
      ],
      { range: "7d", now: STEP },
    );
    expect([series.answers.accepted?.at(-1), series.answers.parked?.at(-1), series.backlog.depth.at(-1)]).toEqual([
      3, 1, 5,
    ]);
  });

  test("times that differ by a sixth are never one value of a plot", () => {
    const p99sOf = (tookMs: readonly number[]): (number | null)[] => {
      const rows = tookMs.map((ms, place) => [10 * place, { answerTimes: [bucketOf(ms), 1] }]);
      const { series } = seriesAt(Object.fromEntries(rows), { seconds: 10 * (rows.length - 1), range: "1h" });
      return series.latency.p99FromMs.slice(-rows.length);
    };
    for (let from = 1; from < 250_000; from *= 1.013 ** 300) {
      const times = Array.from({ length: 300 }, (_, place) => from * 1.013 ** place).filter((ms) => ms < 250_000);
      const [ones, others] = [p99sOf(times), p99sOf(times.map((ms) => ms * 1.17))];
      for (const [place, tookMs] of times.entries()) {
        expect(ones[place]).toBeLessThanOrEqual(tookMs);
        expect(others[place]).toBeGreaterThan(ones[place] ?? Infinity);
      }
    }
  });

  test("a handler that did not run in a known step has no runs and no times there", () => {
    const runs: Figures["runs"] = new Map([["h", { done: [0, 3], failed: [0, 1] }]]);
    const { series, at } = seriesAt({ 0: { runs }, 10: {} }, { seconds: 10 });
    const [handler] = series.handlers;
    expect([-10, 0, 10].map((second) => handler?.runs[at(second)])).toEqual([null, 4, 0]);
    expect([-10, 0, 10].map((second) => handler?.failed[at(second)])).toEqual([null, 1, 0]);
    expect([-10, 0, 10].map((second) => handler?.medianFromMs[at(second)])).toEqual([null, 0, null]);
  });
});
