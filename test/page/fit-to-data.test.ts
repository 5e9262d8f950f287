import { expect, test } from "vitest";
import { fitToData } from "../../src/page/dashboard/overview/fit-to-data.js";

const LENGTH = 360;

function figuresFrom(first: number, value = 3) {
  const values = Array.from({ length: LENGTH }, (_, index) => (index < first ? null : value));
  return { times: values.map((_, index) => index), answers: { accepted: values }, handlers: [], stepMs: 10_000 };
}

test.each([
  ["an hour of deliveries", figuresFrom(0), LENGTH],
  ["deliveries of the last twenty minutes", figuresFrom(240), 121],
  ["a first delivery just now", figuresFrom(355), 60],
  ["no delivery", figuresFrom(LENGTH), 60],
])("the plots of %s begin where there is something to show", (_, figures, steps) => {
  const fitted = fitToData(figures as unknown as Parameters<typeof fitToData>[0]);
  expect(fitted.times).toHaveLength(steps);
  expect(fitted.times.at(-1)).toBe(LENGTH - 1);
  expect(fitted.answers.accepted).toEqual(figures.answers.accepted.slice(-steps));
  expect(fitted.stepMs).toBe(10_000);
});
