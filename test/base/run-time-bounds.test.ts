import { describe, expect, test } from "vitest";
import { RUN_TIME_BOUNDS, describeRunTime, runTimeEnd } from "#pigeonhole/base/run-time-bounds.js";

describe("ranges of times", () => {
  test("each ends where the next one begins, and the last one never", () => {
    expect(RUN_TIME_BOUNDS.map(runTimeEnd)).toEqual([...RUN_TIME_BOUNDS.slice(1), undefined]);
  });

  test("a time in a range is less than its end", () => {
    expect([0, 500, 5_000, 20_000, 120_000, 300_000].map((from) => describeRunTime(runTimeEnd(from)))).toEqual([
      "< 1 ms",
      "< 550 ms",
      "< 5.5 s",
      "< 22 s",
      "< 2.2 min",
      "> 5 min",
    ]);
  });
});
