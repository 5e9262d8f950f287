import { isoTime } from "../../src/base/iso-time.js";
import { expect, test } from "vitest";
import type { OverviewFigures } from "#pigeonhole/dashboard/state-now.js";
import { DAY, HOUR, MINUTE } from "#pigeonhole/base/duration.js";
import { fitToData, shorterRange } from "../../src/page/dashboard/overview/fit-to-data.js";

const LENGTH = 360;

function figuresFrom(first: number, value = 3) {
  const values = Array.from({ length: LENGTH }, (_, index) => (index < first ? null : value));
  return {
    times: values.map((_, index) => isoTime(index)),
    answers: { accepted: values },
    handlers: [],
    stepMs: 10_000,
  };
}

test.each([
  ["an hour of deliveries", figuresFrom(0), LENGTH],
  ["deliveries of the last twenty minutes", figuresFrom(240), 121],
  ["a first delivery just now", figuresFrom(355), 24],
  ["no delivery", figuresFrom(LENGTH), 24],
])("the plots of %s begin where there is something to show", (_, figures, steps) => {
  const fitted = fitToData(figures as unknown as Parameters<typeof fitToData>[0]);
  expect(fitted.times).toHaveLength(steps);
  expect(fitted.times.at(-1)).toBe(isoTime(LENGTH - 1));
  expect(fitted.answers.accepted).toEqual(figures.answers.accepted.slice(-steps));
  expect(fitted.stepMs).toBe(10_000);
});

test.each([
  ["24h", 10 * MINUTE, 40 * MINUTE, "1h"],
  ["24h", 10 * MINUTE, 2 * HOUR, undefined],
  ["7d", HOUR, 2 * HOUR, "24h"],
  ["7d", HOUR, 2 * DAY, undefined],
  ["1h", 10_000, MINUTE, undefined],
])("of %s in steps of %i ms, %i ms with deliveries are in the range %s too", (range, stepMs, agoMs, shorter) => {
  const figures = figuresFrom(LENGTH - agoMs / stepMs);
  const times = figures.times.map((place) => isoTime(Date.parse(place) * stepMs));
  expect(shorterRange({ ...figures, range, stepMs, times } as unknown as OverviewFigures)).toBe(shorter);
});

test("without a delivery, a range is shown as it is", () => {
  const figures = { ...figuresFrom(LENGTH), range: "7d", stepMs: HOUR };
  expect(shorterRange(figures as unknown as OverviewFigures)).toBeUndefined();
});
