import { expect, test } from "vitest";
import { summarizeCapture } from "#pigeonhole/capture/model/summarize-capture.js";
import { measureAnswerTimes } from "../../src/page/deliveries/time-buckets.js";
import { makeCapture } from "../support/captures.js";

test("an answer that came too late counts as late, and a refused connection is no answer", () => {
  const summary = summarizeCapture(makeCapture());
  const answers = [
    { ms: 12, status: 200 },
    { ms: 5_003, status: null },
    { ms: 1, status: null },
  ];
  const times = measureAnswerTimes(answers.map((answer) => ({ ...summary, ...answer })));
  expect(times).toEqual({ median: 12, p95: 5_003, late: 1 });
});
