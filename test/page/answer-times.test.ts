import { expect, test } from "vitest";
import { summarizeCapture } from "#pigeonhole/capture/model/summarize-capture.js";
import { measureAnswerTimes } from "../../src/page/deliveries/answer-times.js";
import { makeCapture } from "../support/captures.js";

test("an answer that came too late counts as failed, and a refused connection is no answer", () => {
  const summary = summarizeCapture(makeCapture());
  const answers = [
    { ms: 12, status: 200 },
    { ms: 5_003, status: null },
    { ms: 1, status: null },
  ];
  const times = measureAnswerTimes(answers.map((answer) => ({ ...summary, ...answer })));
  expect(times).toMatchObject({ count: 2, p95: 5_003 });
  expect(times?.bins.filter(({ done, failed }) => done + failed > 0)).toEqual([
    { from: 10, to: 20, done: 1, failed: 0 },
    { from: 5_000, to: Number.POSITIVE_INFINITY, done: 0, failed: 1 },
  ]);
});
